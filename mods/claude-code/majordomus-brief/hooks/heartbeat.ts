import type { EngineInterface } from 'claude-code'

import { checkoutAround, isInUse } from './checkout'
import { SCOPE } from './installed'
import { isOwnWay } from './owner'
import { rowsOf } from './rows'
import { type Heartbeat, type Outcome, type Run, stateOf, widthOf } from './run'
import { NoAnswer, Refused, ask, askFor } from './server'
import { startServer } from './starting'
import { ownLine } from './statusline'

/** How often the mod checks whether a heartbeat is due. A heartbeat starts no process, and one is due every minute. */
export const TICK_MS = 1_000

const RETRY_SECONDS = 30

/** Run one tick of the clock. Throws nothing. A heartbeat begins only after the previous one has ended. */
export async function tick($: EngineInterface, run: Run): Promise<void> {
  const now = await $.clock.now()
  if (!run.isBeating && now >= run.nextHeartbeatAt) {
    run.isBeating = true
    try {
      await heartbeat($, run, now)
    } catch (fault) {
      failed(run, fault, now)
      if (fault instanceof NoAnswer) startServer($, run).catch(() => undefined)
    } finally {
      run.isBeating = false
    }
  }
  draw($, run, now)
}

/** Draw the rows if they differ from those that are drawn. */
export function draw($: EngineInterface, run: Run, now: number): void {
  const rows = rowsOf(run, now)
  if (rows === run.rows) return
  run.rows = rows
  $.ui.invalidate('ui.render')
}

/** End the episode of a session that is over. The server would notice only later. */
export async function close($: EngineInterface, run: Run, session: string, reason: string, patienceMs?: number): Promise<void> {
  if (run.checkout === null) return
  const told = { session, reason: `its client ended it: ${reason}`, pid: run.pid }
  await ask($, run.checkout, 'POST', '/episodes/close', told, patienceMs)
}

async function heartbeat($: EngineInterface, run: Run, now: number): Promise<void> {
  run.nextHeartbeatAt = now + RETRY_SECONDS * 1_000
  const found = await checkoutAround($, await $.session.cwd())
  run.checkout = found !== null && (await isInUse($, found)) && (await isOwnWay($, found)) ? found : null
  if (run.checkout === null) return
  const own = await ownLine($)
  run.isPrinted = own.isOurs
  run.padding = own.padding
  await follow($, run)
  await tellOutcomes($, run)
  const answer = await askFor<Heartbeat>($, run.checkout, '/episodes/heartbeat', await question($, run))
  run.answer = answer
  run.answeredAt = now
  run.absence = null
  run.startFault = null
  run.nextHeartbeatAt = now + seconds(answer.next_heartbeat_seconds) * 1_000
  if (answer.prompt) submitWake($, run, run.session ?? '', answer.prompt).catch(() => undefined)
}

/** Switch to the session that the client shows now: `/clear` changes its id without a new start. */
async function follow($: EngineInterface, run: Run): Promise<void> {
  const session = await $.session.id()
  if (session === run.session) return
  const before = run.session
  run.session = session
  run.answer = null
  if (before !== null) await close($, run, before, 'another took its place').catch(() => undefined)
}

async function question($: EngineInterface, run: Run): Promise<Record<string, unknown>> {
  return {
    session: run.session,
    state: stateOf(run),
    width: widthOf(run),
    // A script that drives a session did not ask for our turns, and there is never a second prompt while one waits.
    draft: !run.isInteractive || run.isSubmitting || (await hasDraft($)),
    provider: 'claude-code',
    pid: run.pid,
    scope: SCOPE,
  }
}

async function hasDraft($: EngineInterface): Promise<boolean> {
  return (await $.prompt.read()).text !== ''
}

function seconds(asked: unknown): number {
  return typeof asked === 'number' && asked > 0 ? Math.min(asked, 600) : RETRY_SECONDS
}

function failed(run: Run, fault: unknown, now: number): void {
  run.absence = fault instanceof Error ? fault.message : 'no answer'
}

// ---------------------------------------------------------------- the prompt that wakes

type Prompt = { id: string; text: string }

/** Submit the prompt that the server handed out, and remember to report the outcome. Returns when its turn starts. */
async function submitWake($: EngineInterface, run: Run, session: string, prompt: Prompt): Promise<void> {
  const isSettled = run.settled?.prompt === prompt.id
  const outcome = isSettled && run.settled ? run.settled : await submitted($, run, session, prompt)
  if (outcome.outcome === 'submitted' || outcome.outcome === 'dropped') run.settled = outcome
  run.owed.push(outcome)
  if (!isSettled) run.nextHeartbeatAt = 0
}

async function submitted($: EngineInterface, run: Run, session: string, prompt: Prompt): Promise<Outcome> {
  const told = { session, prompt: prompt.id }
  if (run.isStopped) return { ...told, outcome: 'dropped', reason: 'the person pressed Esc and has typed nothing since' }
  if (run.isSubmitting) return { ...told, outcome: 'held', reason: 'another prompt waits' }
  run.isSubmitting = true
  try {
    if (await hasDraft($)) return { ...told, outcome: 'held', reason: 'a draft is in the box' }
    const entered = await $.prompt.submit({ text: prompt.text })
    if (entered.drop === undefined) return { ...told, outcome: 'submitted' }
    run.isStopped = true
    return { ...told, outcome: 'dropped', reason: entered.drop.slice(0, 200) }
  } catch (fault) {
    return { ...told, outcome: 'failed', reason: String(fault).slice(0, 200) }
  } finally {
    run.isSubmitting = false
  }
}

/** Report every outstanding outcome, oldest first. One that the server refuses is dropped, since it would be refused again. */
async function tellOutcomes($: EngineInterface, run: Run): Promise<void> {
  while (run.checkout !== null && run.owed[0] !== undefined) {
    try {
      await ask($, run.checkout, 'POST', '/episodes/outcomes', run.owed[0])
    } catch (fault) {
      if (!(fault instanceof Refused)) throw fault
    }
    run.owed.shift()
  }
}
