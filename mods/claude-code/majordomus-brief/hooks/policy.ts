/** The path of a checkout's policy below its root. */
export const POLICY = '.ai/repo/policy.yaml'

/** The path of the clone's own policy below the git folder. */
export const LOCAL_POLICY = 'majordomus/policy.yaml'

/**
 * Whether a switch below `session` is true or false. Null if it is missing or written in an unusual way.
 *
 * The server reads the whole policy. Without a server the only question is whether one may be started. Anything not written
 * the usual way (`session:` and an indented `key: true`, or both on one line in braces) is not a consent.
 */
export function sessionSwitch(policy: string, key: string): boolean | null {
  const lines = policy.replace(/\r/g, '').split('\n').map(withoutComment)
  const starts = lines.flatMap((line, at) => (/^session\s*:/.test(line) ? [at] : []))
  const [start] = starts
  if (start === undefined || starts.length > 1) return null
  const flow = /^session\s*:\s*\{(.*)\}\s*$/.exec(lines[start] ?? '')
  const entries = flow ? (flow[1] ?? '').split(',') : below(lines, start)
  const values = entries.flatMap(entry => valueOf(entry, key))
  return values.length === 1 ? (values[0] ?? null) : null
}

/** The lines of the block at its first level. */
function below(lines: readonly string[], start: number): string[] {
  if (!/^session\s*:\s*$/.test(lines[start] ?? '')) return []
  const rest = lines.slice(start + 1).filter(line => line.trim() !== '')
  const end = rest.findIndex(line => !line.startsWith(' '))
  const block = end === -1 ? rest : rest.slice(0, end)
  const depth = /^ */.exec(block[0] ?? '')?.[0].length ?? 0
  return block.filter(line => /^ */.exec(line)?.[0].length === depth)
}

function valueOf(entry: string, key: string): (boolean | null)[] {
  const found = /^\s*([A-Za-z_]+)\s*:\s+(.*?)\s*$/.exec(entry)
  if (found?.[1] !== key) return []
  return [found[2] === 'true' ? true : found[2] === 'false' ? false : null]
}

function withoutComment(line: string): string {
  return line.replace(/(^|\s)#.*$/, '')
}
