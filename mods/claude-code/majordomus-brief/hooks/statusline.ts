import type { EngineInterface } from 'claude-code'

/** How a command of ours that prints the line is spelled: the script by any path, or the module by any interpreter. */
const OURS = /(?:(?:^|[\s/'"`;&|(])majordomus['"]?|\s-m\s+brief)\s+statusline(?![\w./-])/

/** Whether a status line's command prints our line, by itself or among others. */
export function printsLine(command: unknown): boolean {
  return typeof command === 'string' && OURS.test(command)
}

/** Whether the person's own status line prints our line already, so that a row of the mod's would say it twice. */
export async function hasOwnLine($: EngineInterface): Promise<boolean> {
  try {
    const configured = (await $.settings.read({ key: 'statusLine' })) as { command?: unknown } | null | undefined
    return printsLine(configured?.command)
  } catch {
    return false
  }
}
