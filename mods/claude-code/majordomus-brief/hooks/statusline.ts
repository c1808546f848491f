import type { EngineInterface } from 'claude-code'

/** Matches a command of ours that prints the line: the script by any path, or the module by any interpreter. */
const OURS = /(?:(?:^|[\s/'"`;&|(])majordomus['"]?|\s-m\s+brief)\s+statusline(?![\w./-])/

/** Whether a status line's command prints our line, alone or with others. */
export function printsLine(command: unknown): boolean {
  return typeof command === 'string' && OURS.test(command)
}

/** The person's own status line: whether it prints our line already, and by how many columns the client indents all rows. */
export type OwnLine = { isOurs: boolean; padding: number }

/** The settings of the status line. Empty if they cannot be read. */
export async function ownLine($: EngineInterface): Promise<OwnLine> {
  try {
    const configured = (await $.settings.read({ key: 'statusLine' })) as { command?: unknown; padding?: unknown } | null | undefined
    const padding = configured?.padding
    return { isOurs: printsLine(configured?.command), padding: typeof padding === 'number' && padding > 0 ? padding : 0 }
  } catch {
    return { isOurs: false, padding: 0 }
  }
}
