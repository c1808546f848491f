import type { EngineInterface, Register } from 'claude-code'

import { COMMAND_NAME, commandText } from './command'
import { TICK_MS, tick, close } from './heartbeat'
import { beneath } from './rows'
import { type Run, newRun } from './run'
import { askFor } from './server'

/** How long a person's prompt may wait, in milliseconds. */
const PROMPT_MS = 700

/** How long the end of a session may wait. The client stops all its hooks after 1.5 s. */
const END_MS = 700

const PERSONS = new Set<string>(['composer', 'bridge', 'sdk'])
const OPEN_QUESTIONS = new Set<string>(['permission_prompt', 'elicitation_dialog'])

export const register: Register = on => {
  const run = newRun()

  on('session.start', async ($, e, next) => {
    const started = await next(e)
    run.isInteractive = e.isInteractive
    await begin($, run)
    return started
  })

  on('session.end', async ($, e, next) => {
    await end($, run, e.sessionId, e.reason).catch(() => undefined)
    return next(e)
  })

  on('session.stop', ($, e, next) => {
    run.isStopped = true
    return next(e)
  })

  on('prompt.submit', async ($, e, next) => {
    if (!PERSONS.has(e.origin.kind) || e.isMeta) return next(e)
    run.isStopped = false
    const told = await context($, run).catch(() => '')
    return next(told === '' ? e : { ...e, context: [...(e.context ?? []), told] })
  })

  on('turn.start', ($, e, next) => {
    if (e.agentId === undefined) turned(run, true)
    return next(e)
  })

  on('turn.complete', ($, e, next) => {
    if (e.agentId === undefined) turned(run, false)
    return next(e)
  })

  on('classic.Notification', ($, e, next) => {
    if (e.notification_type === 'idle_prompt') turned(run, false)
    if (OPEN_QUESTIONS.has(e.notification_type)) asked(run, true)
    return next(e)
  })

  on('classic.PostToolUse', ($, e, next) => {
    asked(run, false)
    return next(e)
  })

  on('command.run', { command: 'brief' }, async ($, e) => ({
    text: await commandText($, run, e.args, e.presentation.columns),
    isTextDisplayOnly: true,
  }))

  on('ui.render', { component: 'StatusLine' }, ($, e, next) => {
    if (run.columns !== e.props.columns) {
      run.columns = e.props.columns
      run.nextHeartbeatAt = 0
    }
    return next({ ...e, props: { ...e.props, text: beneath(e.props.text, run.rows) } })
  })
}

async function begin($: EngineInterface, run: Run): Promise<void> {
  $.clock.every(TICK_MS, () => tick($, run))
  run.pid = await ownPid($)
  await $.command
    .register({ name: COMMAND_NAME, description: 'The brief of this repository, without a turn', argumentHint: '[pause|resume]', immediate: true })
    .catch(() => undefined)
}

/** The client's own process, with which the episode ends. Null if it is unknown. */
async function ownPid($: EngineInterface): Promise<number | null> {
  try {
    const pid = Number((await $.process.hookEnv())['CLAUDE_PID'])
    return Number.isInteger(pid) && pid > 0 ? pid : null
  } catch {
    return null
  }
}

async function end($: EngineInterface, run: Run, session: string, reason: string): Promise<void> {
  if (run.session === session) run.session = null
  run.nextHeartbeatAt = 0
  await close($, run, session, reason, END_MS)
}

/** The text that the model reads with a person's prompt. Empty if there is none or no server answers in time. */
async function context($: EngineInterface, run: Run): Promise<string> {
  if (run.checkout === null) return ''
  const fields = { session: await $.session.id(), human: true, provider: 'claude-code', pid: run.pid }
  const answer = await askFor<{ context?: unknown }>($, run.checkout, '/episodes/prompt', fields, PROMPT_MS)
  return typeof answer.context === 'string' ? answer.context : ''
}

function turned(run: Run, isBusy: boolean): void {
  run.isBusy = isBusy
  asked(run, false)
  run.nextHeartbeatAt = 0
}

function asked(run: Run, isWaiting: boolean): void {
  if (run.isWaiting !== isWaiting) run.nextHeartbeatAt = 0
  run.isWaiting = isWaiting
}
