import type { Checkout } from './checkout'

/** A session's report about itself. */
export type State = 'busy' | 'idle' | 'waiting'

/** The server's answer to a heartbeat. It may have more fields. */
export type Heartbeat = {
  line: string
  prompt: { id: string; text: string } | null
  next_heartbeat_seconds: number
  switch: 'on' | 'off'
}

/** The outcome of a prompt, kept until the server has it. */
export type Outcome = {
  session: string
  prompt: string
  outcome: 'submitted' | 'dropped' | 'held' | 'failed'
  reason?: string
}

/** The state of one load of the module. A reload resets it, `/clear` does not. Times are in milliseconds. */
export type Run = {
  /** False if no person uses the session, as in one that a script drives. */
  isInteractive: boolean
  pid: number | null
  /** The episode of the last heartbeat. */
  session: string | null
  checkout: Checkout | null
  isBusy: boolean
  /** Whether a permission or a question is open. */
  isWaiting: boolean
  /** Whether the person has pressed Esc and typed nothing since. */
  isStopped: boolean
  isBeating: boolean
  /** Whether a prompt of ours waits for its turn. */
  isSubmitting: boolean
  isStarting: boolean
  nextHeartbeatAt: number
  nextStartAt: number
  /** The last answer, and when it came. */
  answer: Heartbeat | null
  answeredAt: number
  /** Why the last heartbeat failed. Null if it did not. */
  absence: string | null
  /** Why the last start of a server failed. Null if it did not. */
  startFault: string | null
  owed: Outcome[]
  /** The last outcome that settled a prompt. If that prompt is handed out again, it is not submitted again. */
  settled: Outcome | null
  /** The columns of the status line without its padding, which the settings may widen on each side. */
  columns: number | null
  padding: number
  /** Whether the person's own status line prints the line. Then nothing is drawn. */
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

/** The state that is reported to the server. */
export function stateOf(run: Run): State {
  return run.isWaiting ? 'waiting' : run.isBusy ? 'busy' : 'idle'
}

/** The columns available for a row. Null until the client reports them. */
export function widthOf(run: Run): number | null {
  return run.columns === null ? null : Math.max(0, run.columns - 2 * run.padding)
}
