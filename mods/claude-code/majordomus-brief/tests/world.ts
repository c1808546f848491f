import type { On } from 'claude-code'
import { type TestBody, test as kitTest } from 'claude-code/testing'

/** How long a test may take. The kit's own 5 s are too few on a machine that is busy. */
const LASTS_MS = 60_000

/** A test of the kit with that bound. */
export function test(name: string, body: TestBody): void {
  kitTest(name, { timeoutMs: LASTS_MS }, body)
}

/** A checkout with a policy that consents, and a server that answers; a test changes what it is about. */
export type World = {
  files: Record<string, string>
  /** What the server answers by path; a path that is missing fails as a closed socket does. */
  answers: Record<string, unknown>
  status: number
  epoch: string
  /** The git folder that the server's answers name, as a header spells it. */
  repository: string
  /** Asked before each answer: a test that holds one back waits here. */
  hold: (path: string) => Promise<void> | void
  session: string
  draft: string
  /** The settings in force. */
  settings: Record<string, unknown>
  cwd: string
  /** What the engine makes of a prompt of the mod's. */
  submit: (text: string) => Promise<Submitted> | Submitted
  exitCode: number
  asked: Asked[]
  submitted: string[]
  entered: { text: string; context: readonly string[] }[]
  ran: (readonly string[])[]
  /** The git folder's real path, the person's number, and what `ls` says of git folder, state folder, lease, folder of the socket and socket. */
  owners: string[]
  /** Whether git accepts a git folder of somebody else. */
  isAccepted: boolean
  /** What `ls` says of the shared git folder, the work tree, its `.git` and its own git folder, after the person's number. */
  way: string[]
  /** How often the way to a git folder was asked for. */
  ways: number
  /** The paths of each proof. */
  proofs: (readonly string[])[]
  commands: string[]
}

export type Submitted = { text: string } | { drop: string }
export type Asked = { method: string; path: string; socket: string; fields: Record<string, unknown> }

/** The text of a file that is there and cannot be read. */
export const UNREADABLE = 'unreadable'
/** What makes a folder a git folder. */
export const REPOSITORY = {
  '/repo/.git/HEAD': 'ref: refs/heads/main\n',
  '/repo/.git/objects/x': '',
  '/repo/.git/refs/x': '',
}
export const LEASE = '/repo/.git/majordomus/lease.json'
export const POLICY = '/repo/.ai/repo/policy.yaml'
export const ON = 'version: 1\nsession:\n  brief_on_interval: true\n'
export const SOCKETS = '/run/majordomus'
export const OWN = [
  '/repo/.git',
  '1000',
  'drwxrwxr-x 8 1000 1000 4096 Dec  1 10:00 /repo/.git/.',
  'drwx------ 5 1000 1000 4096 Dec  1 10:00 /repo/.git/majordomus',
  '-rw------- 1 1000 1000  400 Dec  1 10:00 /repo/.git/majordomus/lease.json',
  `drwx------ 3 1000 1000   80 Dec  1 10:00 ${SOCKETS}`,
  `srw------- 1 1000 1000    0 Dec  1 10:00 ${socketOf(7)}`,
]
export const OWN_WAY = ['1000', ...['d', 'd', 'd', 'd'].map(kind => `${kind}rwxr-xr-x 8 1000 1000 4096 Dec  1 10:00 /repo`)]
export const START = { cwd: '/repo', surface: 'terminal', isInteractive: true } as const

/** The socket of the server of an epoch: the digits are of the SHA-256 of `/repo/.git`. */
export function socketOf(epoch: number): string {
  return `${SOCKETS}/6b4ca2db35cf-${epoch}.sock`
}

/** The lease of the server of an epoch, as it lies there. */
export function leaseOf(epoch: number, changed: Record<string, unknown> = {}): string {
  return JSON.stringify({ socket: socketOf(epoch), epoch, common_dir: '/repo/.git', ...changed })
}

/** What a heartbeat is answered where there is nothing to do. */
export function heartbeat(changed: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    line: 'peers 3 · derive free',
    prompt: null,
    next_heartbeat_seconds: 60,
    switch: 'on',
    ...changed,
  }
}

/** The engine beneath the mod, as far as it reaches it; what it was handed is recorded. */
export function world(on: On, given: Partial<World> = {}): World {
  const made: World = {
    files: {
      ...REPOSITORY,
      [LEASE]: leaseOf(7),
      [POLICY]: ON,
    },
    answers: { '/episodes/heartbeat': heartbeat(), '/episodes/prompt': { context: '' }, '/episodes/outcomes': {}, '/episodes/close': {} },
    status: 200,
    epoch: '7',
    repository: '/repo/.git',
    hold: () => undefined,
    session: 'one',
    draft: '',
    settings: {},
    cwd: '/repo',
    submit: text => ({ text }),
    exitCode: 0,
    asked: [],
    submitted: [],
    entered: [],
    ran: [],
    owners: OWN,
    way: OWN_WAY,
    ways: 0,
    isAccepted: false,
    proofs: [],
    commands: [],
    ...given,
  }
  beneathFiles(on, made)
  beneathServer(on, made)
  beneathSession(on, made)
  return made
}

function beneathFiles(on: On, made: World): void {
  on('fs.stat', (_, e) => {
    const isFile = e.path in made.files
    const isFolder = Object.keys(made.files).some(name => name.startsWith(`${e.path}/`))
    if (!isFile && !isFolder) return { deny: 'failed: ENOENT' }
    return { value: { kind: isFile ? 'file' : 'dir', size: 1, mtimeMs: 1, isLink: false } }
  })
  on('fs.read', (_, e) => {
    const text = made.files[e.path]
    if (text === UNREADABLE) return { deny: 'failed: EACCES' }
    return text === undefined ? { deny: 'failed: ENOENT' } : { value: text }
  })
}

function beneathServer(on: On, made: World): void {
  on('http.fetch', async (_, e) => {
    const url = new URL(e.url)
    const path = url.pathname.replace('/api/v1', '')
    const body = e.init?.body === undefined ? fieldsOf(url.search) : JSON.parse(String(e.init.body))
    made.asked.push({ method: e.init?.method ?? 'GET', path, socket: String(e.init?.socketPath), fields: body })
    await made.hold(path)
    const answer = made.answers[path]
    if (answer === undefined) return { deny: 'ECONNREFUSED' }
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
    const headers = { 'majordomus-epoch': made.epoch, 'majordomus-repository': made.repository }
    return { value: { status: made.status, ok: made.status === 200, headers, text } }
  })
  on('process.run', (_, e) => {
    if (e.argv[0] === '/bin/sh') return { value: proof(made, e.argv) }
    made.ran.push(e.argv)
    const stderr = made.exitCode === 0 ? '' : 'majordomus: no server can run\n'
    return { value: { exitCode: made.exitCode, stdout: '', stderr, isStdoutTruncated: false, isStderrTruncated: false } }
  })
}

function proof(made: World, argv: readonly string[]) {
  const isGit = argv[2]?.includes('git -C') === true
  if (argv[2]?.startsWith('command -p id') === true) {
    made.ways += 1
    return { exitCode: 0, stdout: `${made.way.join('\n')}\n`, stderr: '', isStdoutTruncated: false, isStderrTruncated: false }
  }
  if (!isGit) made.proofs.push(argv.slice(4))
  const exitCode = isGit && !made.isAccepted ? 128 : 0
  return { exitCode, stdout: `${made.owners.join('\n')}\n`, stderr: '', isStdoutTruncated: false, isStderrTruncated: false }
}

function fieldsOf(search: string): Record<string, unknown> {
  const pairs = search.slice(1).split('&').map(pair => pair.split('=').map(decodeURIComponent))
  return Object.fromEntries(pairs)
}

function beneathSession(on: On, made: World): void {
  on('session.start', (_, e) => ({ cwd: e.cwd }))
  on('session.end', (_, e) => ({ sessionId: e.sessionId }))
  on('session.stop', (_, e) => ({ isTurnRunning: e.isTurnRunning }))
  on('session.id', () => ({ value: made.session }))
  on('session.cwd', () => ({ value: made.cwd }))
  on('settings.read', () => ({ value: made.settings }))
  on('process.hookEnv', () => ({ value: { CLAUDE_PID: '4711' } }))
  on('command.register', (_, e) => {
    made.commands.push(e.name)
    return { value: { command: e.name } }
  })
  on('prompt.read', () => ({ value: { text: made.draft, cursor: made.draft.length } }))
  on('prompt.submit', async (_, e) => {
    if (e.origin.kind === 'plugin') {
      made.submitted.push(e.text)
      return made.submit(e.text)
    }
    made.entered.push({ text: e.text, context: e.context ?? [] })
    return { text: e.text }
  })
  on('turn.start', (_, e) => ({ turnId: e.turnId }))
  on('turn.complete', (_, e) => ({ text: e.answer }))
  on('classic.Notification', () => ({}))
  on('classic.PostToolUse', () => ({}))
  on('ui.render', (_, e) => ({ type: 'Text', props: {}, children: [e.component === 'StatusLine' ? plain(e.props.text ?? '') : ''] }))
}

/** The text without its styles, which a tree of elements does not take. */
function plain(text: string): string {
  return text.replace(/\u001b\[\d+m/g, '')
}

/** What was asked of the server at one path, the oldest first. */
export function at(made: World, path: string): Record<string, unknown>[] {
  return made.asked.filter(each => each.path === path).map(each => each.fields)
}

/** A person's own prompt. */
export function typed(text: string) {
  return { text, wait: false, origin: { kind: 'composer' } } as const
}

/** The end of a turn. */
export function answered(turnId: string) {
  return { turnId, answer: 'done', durationMs: 5, isAborted: false, reason: 'answer' } as const
}
