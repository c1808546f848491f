import type { Checkout } from './checkout'

/** What a session tells of itself. */
export type State = 'busy' | 'idle' | 'waiting'

/** What the server answers to a heartbeat; more may come with it. */
export type Heartbeat = {
  line: string
  prompt: { id: string; text: string } | null
  next_heartbeat_seconds: number
  switch: 'on' | 'off'
}

/** What became of a prompt, until the server has been told. */
export type Outcome = {
  session: string
  prompt: string
  outcome: 'submitted' | 'dropped' | 'held' | 'failed'
  reason?: string
}

/** What one load of the module keeps; a reload starts it over, `/clear` does not. Times are milliseconds. */
export type Run = {
  /** False where nobody sits before it, as in a script's session. */
  isInteractive: boolean
  pid: number | null
  /** The episode of the last heartbeat. */
  session: string | null
  checkout: Checkout | null
  isBusy: boolean
  /** A permission or a question is open. */
  isWaiting: boolean
  /** The person pressed Esc, and has typed nothing since. */
  isStopped: boolean
  isBeating: boolean
  /** A prompt of ours waits for its turn. */
  isSubmitting: boolean
  isStarting: boolean
  nextHeartbeatAt: number
  nextStartAt: number
  /** The last answer, and when it came. */
  answer: Heartbeat | null
  answeredAt: number
  /** Why the last heartbeat failed; null if it did not. */
  absence: string | null
  /** Why the last start of a server failed; null where it did not. */
  startFault: string | null
  owed: Outcome[]
  /** The last outcome that settled a prompt: should that be handed out again, it is not submitted again. */
  settled: Outcome | null
  /** The columns of the status line without its padding, which the settings may widen by so many on each side. */
  columns: number | null
  padding: number
  /** The person's own status line prints the line: nothing is drawn beside it. */
  isPrinted: boolean
  /** The rows that are drawn. */
  rows: string
}

/** A run in which nothing has happened. */
export function newRun(): Run {
  return {
    isInteractive: true,
    pid: null,
    session: null,
    checkout: null,
    isBusy: false,
    isWaiting: false,
    isStopped: false,
    isBeating: false,
    isSubmitting: false,
    isStarting: false,
    nextHeartbeatAt: 0,
    nextStartAt: 0,
    answer: null,
    answeredAt: 0,
    absence: null,
    startFault: null,
    owed: [],
    settled: null,
    columns: null,
    padding: 0,
    isPrinted: false,
    rows: '',
  }
}

/** The state that the server is told. */
export function stateOf(run: Run): State {
  return run.isWaiting ? 'waiting' : run.isBusy ? 'busy' : 'idle'
}

/** The columns in which a row is drawn; null while the client has not said. */
export function widthOf(run: Run): number | null {
  return run.columns === null ? null : Math.max(0, run.columns - 2 * run.padding)
}
