// majordomus capture install replaces this file: it holds the command line and the scope of the installation.
export const COMMAND: readonly string[] = ['majordomus']
export const SCOPE: 'project' | 'user' = 'project'
