import type { EngineInterface } from 'claude-code'

import { checkoutAround, hasPolicy } from './checkout'
import type { Run } from './run'
import { type Fields, ask } from './server'

/** The word that a person types after the slash. */
export const COMMAND_NAME = 'brief'

/** What the client sets in front of every row that a command prints. */
const MARGIN = 8

const USAGE = '/brief prints the brief; /brief pause keeps prompts of the schedule away from this session, /brief resume lets them come'

/** What `/brief` prints: the brief, or what became of the wakes. The model reads none of it. */
export async function commandText($: EngineInterface, run: Run, args: string, columns: number): Promise<string> {
  try {
    return await answered($, run, args.trim(), columns)
  } catch (fault) {
    return `unread: ${fault instanceof Error ? fault.message : 'no answer'}; majordomus serve ensure starts a server`
  }
}

async function answered($: EngineInterface, run: Run, word: string, columns: number): Promise<string> {
  if (!['', 'pause', 'resume'].includes(word)) return USAGE
  const checkout = run.checkout ?? (await checkoutAround($, await $.session.cwd()))
  if (checkout === null) return 'there is no git checkout here, so there is no brief'
  if (!(await hasPolicy($, checkout))) return 'this repository has no policy; majordomus init writes one'
  const session = await $.session.id()
  const printed: Fields = { session, format: 'text', width: columns - MARGIN }
  if (word === '') return `\n${(await ask($, checkout, 'GET', '/brief', printed)).trimEnd()}`
  await ask($, checkout, 'POST', `/wakes/${word}`, { session })
  run.nextLookAt = 0
  if (word === 'pause') return 'paused: the schedule queues no prompt here until /brief resume'
  return 'resumed: the schedule queues prompts here again'
}
