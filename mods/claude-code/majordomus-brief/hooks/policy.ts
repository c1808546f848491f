/** Where the policy of a checkout lies, from its root. */
export const POLICY = '.ai/repo/policy.yaml'

/** Where the clone's own policy lies, from the git folder. */
export const LOCAL_POLICY = 'majordomus/policy.yaml'

/**
 * Whether a switch below `session` is plainly true or false; null where it is not there or not plainly written.
 *
 * The server reads the policy in full. Without one only this is asked of it: may one be started? Whatever is not
 * written the plain way (`session:` and an indented `key: true`, or both on one line in braces) is no consent.
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

/** The lines of the block, those of its first depth alone. */
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
