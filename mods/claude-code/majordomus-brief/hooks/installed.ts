// majordomus capture install writes its own: the words that start the command, and for whom the mod is installed.
export const COMMAND: readonly string[] = ['majordomus']
export const SCOPE: 'project' | 'user' = 'project'
