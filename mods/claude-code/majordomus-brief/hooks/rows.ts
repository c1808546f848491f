import { type Run, widthOf } from './run'
import { NO_SERVER } from './server'

const SEPARATOR = ' · '

/** The row under the prompt: the line, or the last line with its age if the heartbeat failed. Empty if another draws it. */
export function rowsOf(run: Run, now: number): string {
  if (run.checkout === null || run.isPrinted) return ''
  const line = clean(run.answer?.line ?? '')
  if (run.absence === null) return line
  const why = run.isStarting ? 'no server, starting one' : clean(run.startFault ?? run.absence)
  const hint = why === NO_SERVER ? `${SEPARATOR}majordomus serve ensure starts one` : ''
  const row = line === '' ? `brief ?${SEPARATOR}${why}${hint}` : `${why}, as of ${ago(now - run.answeredAt)}${SEPARATOR}${line}`
  return fit(row, widthOf(run))
}

/** Drop parts from the end of the row until it fits. A new line was already fitted by the server. */
function fit(row: string, columns: number | null): string {
  const parts = row.split(SEPARATOR)
  while (columns !== null && parts.length > 1 && [...parts.join(SEPARATOR)].length > columns) parts.pop()
  return parts.join(SEPARATOR)
}

/** An age as the line shows it. */
export function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes}m ago`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)}h ago` : `${Math.floor(minutes / 1440)}d ago`
}

/** The person's own status line above ours. */
export function beneath(own: string | null, rows: string): string {
  return [own ?? '', rows].filter(row => row !== '').join('\n')
}

/** The text as one row without terminal control characters. */
export function clean(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ').trim()
}
