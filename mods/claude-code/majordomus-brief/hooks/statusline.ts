import type { EngineInterface } from 'claude-code'

/** How a command of ours that prints the line is spelled: the script by any path, or the module by any interpreter. */
const OURS = /(?:(?:^|[\s/'"`;&|(])majordomus['"]?|\s-m\s+brief)\s+statusline(?![\w./-])/

/** Whether a status line's command prints our line, by itself or among others. */
export function printsLine(command: unknown): boolean {
  return typeof command === 'string' && OURS.test(command)
}

/** The person's own status line: whether it prints our line already, and by how many columns the client indents all rows. */
export type OwnLine = { isOurs: boolean; padding: number }

/** What the settings say of the status line; nothing where they cannot be read. */
export async function ownLine($: EngineInterface): Promise<OwnLine> {
  try {
    const configured = (await $.settings.read({ key: 'statusLine' })) as { command?: unknown; padding?: unknown } | null | undefined
    const padding = configured?.padding
    return { isOurs: printsLine(configured?.command), padding: typeof padding === 'number' && padding > 0 ? padding : 0 }
  } catch {
    return { isOurs: false, padding: 0 }
  }
}
