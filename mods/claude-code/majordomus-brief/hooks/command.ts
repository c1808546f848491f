import type { EngineInterface } from 'claude-code'

import { checkoutAround, isInUse } from './checkout'
import { isOwnWay } from './owner'
import { clean } from './rows'
import type { Run } from './run'
import { NoAnswer, ask, askFor } from './server'

/** The word that a person types after the slash. */
export const COMMAND_NAME = 'brief'

/** The prefix that the client puts before every row of a command's output. */
const MARGIN = 8

const USAGE = '/brief prints the brief; /brief pause keeps prompts of the schedule away from this session, /brief resume lets them come'

const NOT_OWN = 'this checkout is not proven to be yours, so no server is asked; majordomus doctor says more'

const ALL_PAUSED = 'all sessions of this repository are paused; majordomus wake resume --repository ends that'

/** The state of the sessions' wakes. `paused` is since when the whole repository is paused. */
type Wakes = { paused?: string | null; sessions?: { session: string; status: string; reason: string | null }[] }

/** Run `/brief`: print the brief, or the result of a change to the wakes. The model reads none of it. */
export async function commandText($: EngineInterface, run: Run, args: string, columns: number): Promise<string> {
  try {
    return await answered($, run, args.trim(), columns)
  } catch (fault) {
    const why = fault instanceof Error ? clean(fault.message) : 'no answer'
    return fault instanceof NoAnswer ? `unread: ${why}; majordomus serve ensure starts a server` : `refused: ${why}`
  }
}

async function answered($: EngineInterface, run: Run, word: string, columns: number): Promise<string> {
  if (word !== '' && word !== 'pause' && word !== 'resume') return USAGE
  const checkout = run.checkout ?? (await checkoutAround($, await $.session.cwd()))
  if (checkout === null) return 'there is no git checkout here, so there is no brief'
  if (!(await isOwnWay($, checkout))) return NOT_OWN
  if (!(await isInUse($, checkout))) return 'this repository has no policy; majordomus init writes one'
  const session = await $.session.id()
  const printed = { session, format: 'text', width: columns - MARGIN }
  if (word === '') return `\n${(await ask($, checkout, 'GET', '/brief', printed)).trimEnd()}`
  const wakes = await askFor<Wakes>($, checkout, `/wakes/${word}`, { session })
  run.nextHeartbeatAt = 0
  return stands(word, wakes, session)
}

/** Describe the result by the present state of the session: the policy, trust, Esc or the limit may still prevent wakes. */
function stands(word: 'pause' | 'resume', wakes: Wakes, session: string): string {
  const own = wakes.sessions?.find(each => each.session === session)
  if (own === undefined) return 'remembered; the server does not say whether this session is woken'
  if (word === 'pause' && own.status === 'paused') return 'paused: the schedule queues no prompt here until /brief resume'
  if (word === 'resume' && own.status === 'on') return 'resumed: the schedule queues prompts here again'
  if (own.status === 'paused') return `remembered, but nobody is woken here: ${ALL_PAUSED}`
  const who = own.status === 'off' ? 'nobody is woken here' : 'this session is not woken'
  return `remembered, but ${who}: ${clean(own.reason ?? own.status)}`
}
