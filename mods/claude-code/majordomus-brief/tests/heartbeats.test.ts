import { expect, mock } from 'claude-code/testing'

import { LEASE, ON, POLICY, REPOSITORY, START, answered, at, heartbeat, leaseOf, socketOf, test, typed, world } from './world'

const PROPS = { text: null, isManaged: false, isWorking: false, maxRows: 5, columns: 96 }

test('a heartbeat is sent every minute, and starts no process', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  await $.session.start(START)
  await clock.advance(1_000)
  expect(at(made, '/episodes/heartbeat')).toEqual([
    { root: '/repo', session: 'one', state: 'idle', width: null, draft: false, provider: 'claude-code', pid: 4711, scope: 'project' },
  ])
  expect(made.asked[0]?.socket).toBe(socketOf(7))
  await clock.advance(59_000)
  expect(at(made, '/episodes/heartbeat').length).toBe(1)
  await clock.advance(1_000)
  expect(at(made, '/episodes/heartbeat').length).toBe(2)
  expect(made.ran).toEqual([])
})

test('the server says when the next heartbeat is due', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on, { answers: { '/episodes/heartbeat': heartbeat({ next_heartbeat_seconds: 30 }) } })
  await $.session.start(START)
  await clock.advance(31_000)
  expect(at(made, '/episodes/heartbeat').length).toBe(2)
})

test('heartbeats never overlap', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on, { answers: { '/episodes/heartbeat': heartbeat({ next_heartbeat_seconds: 1 }) } })
  let atOnce = 0
  let most = 0
  made.hold = async () => {
    most = Math.max(most, ++atOnce)
    await clock.sleep(2_500)
    atOnce -= 1
  }
  await $.session.start(START)
  await clock.advance(20_000)
  expect(most).toBe(1)
  expect(made.asked.length > 3).toBe(true)
})

test('a server that is silent is not waited for', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on, { hold: () => clock.sleep(30_000) })
  await $.session.start(START)
  await clock.advance(6_000)
  const ui = await $.ui.mount({ plugin: 'majordomus-brief', surface: 'terminal', component: 'StatusLine', props: PROPS })
  expect(JSON.stringify(await ui.drawn())).toMatch(/brief \? · (the server is silent|no server, starting one)/)
})

const NOT_THE_HOLDER = {
  'another epoch': { epoch: '6' },
  'another repository': { repository: '/other/.git' },
  'no repository': { repository: '' },
  'a repository that cannot be read': { repository: '%FF' },
}

for (const [what, told] of Object.entries(NOT_THE_HOLDER)) {
  test(`an answer of ${what} is not believed`, async ($, on) => {
    const clock = mock.clock(on)
    const made = world(on, { ...told, files: { ...REPOSITORY, [LEASE]: leaseOf(7), [POLICY]: 'version: 1\n' } })
    await $.session.start(START)
    await clock.advance(1_000)
    expect(made.asked.length > 0).toBe(true)
    const ui = await $.ui.mount({ plugin: 'majordomus-brief', surface: 'terminal', component: 'StatusLine', props: PROPS })
    expect(JSON.stringify(await ui.drawn())).toMatch(/brief \? · no server/)
  })
}

test('the rows stand below the person\'s own status line, and the width is told', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  await $.session.start(START)
  const ui = await $.ui.mount({ plugin: 'majordomus-brief', surface: 'terminal', component: 'StatusLine', props: { ...PROPS, text: 'mine' } })
  await clock.advance(2_000)
  expect(at(made, '/episodes/heartbeat').at(-1)?.['width']).toBe(96)
  expect(JSON.stringify(await ui.drawn())).toMatch(/mine\\npeers 3 · derive free/)
})

test('the padding of the settings is no part of the width', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on, { settings: { statusLine: { type: 'command', command: 'echo mine', padding: 3 } } })
  await $.session.start(START)
  await $.ui.mount({ plugin: 'majordomus-brief', surface: 'terminal', component: 'StatusLine', props: PROPS })
  await clock.advance(2_000)
  expect(at(made, '/episodes/heartbeat').at(-1)?.['width']).toBe(90)
})

const PRINTED = [
  'majordomus statusline',
  '/opt/bin/majordomus statusline',
  "'/opt/my tools/majordomus' statusline",
  "'/opt/the python' -P -m brief statusline",
  'ccstatusline; majordomus  statusline',
]
const NOT_PRINTED = ['echo majordomus', 'my-majordomus statusline', 'majordomus statusline-of-mine', 'ccstatusline', '', 7, null]

for (const command of PRINTED) {
  test(`nothing is drawn beside ${command}, and the heartbeats go on`, async ($, on) => {
    const clock = mock.clock(on)
    const made = world(on, { settings: { statusLine: { type: 'command', command } } })
    await $.session.start(START)
    const ui = await $.ui.mount({ plugin: 'majordomus-brief', surface: 'terminal', component: 'StatusLine', props: { ...PROPS, text: 'mine' } })
    await clock.advance(61_000)
    expect(JSON.stringify(await ui.drawn())).toMatch(/"mine"/)
    expect(at(made, '/episodes/heartbeat').length > 1).toBe(true)
    expect(made.ran).toEqual([])
    made.settings = {}
    await clock.advance(61_000)
    expect(JSON.stringify(await ui.drawn())).toMatch(/mine\\npeers 3/)
  })
}

for (const command of NOT_PRINTED) {
  test(`the row is drawn below ${JSON.stringify(command)}`, async ($, on) => {
    const clock = mock.clock(on)
    world(on, { settings: { statusLine: { type: 'command', command } } })
    await $.session.start(START)
    const ui = await $.ui.mount({ plugin: 'majordomus-brief', surface: 'terminal', component: 'StatusLine', props: PROPS })
    await clock.advance(2_000)
    expect(JSON.stringify(await ui.drawn())).toMatch(/peers 3/)
  })
}

test('a failed heartbeat draws nothing either beside a status line of ours', async ($, on) => {
  const clock = mock.clock(on)
  world(on, { answers: {}, exitCode: 1, settings: { statusLine: { command: 'majordomus statusline' } } })
  await $.session.start(START)
  const ui = await $.ui.mount({ plugin: 'majordomus-brief', surface: 'terminal', component: 'StatusLine', props: PROPS })
  await clock.advance(2_000)
  expect(JSON.stringify(await ui.drawn())).not.toMatch(/brief/)
})

test('a failed heartbeat shows the last line with its age', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on, { exitCode: 1 })
  await $.session.start(START)
  await clock.advance(1_000)
  delete made.answers['/episodes/heartbeat']
  await clock.advance(150_000)
  const ui = await $.ui.mount({ plugin: 'majordomus-brief', surface: 'terminal', component: 'StatusLine', props: PROPS })
  expect(JSON.stringify(await ui.drawn())).toMatch(/as of 2m ago · peers 3 · derive free/)
  made.answers['/episodes/heartbeat'] = heartbeat({ line: 'peers 4' })
  await clock.advance(31_000)
  expect(JSON.stringify(await ui.drawn())).toMatch(/"peers 4"/)
})

// ---------------------------------------------------------------- where

const NOT_HERE: Record<string, Record<string, string>> = {
  'no git': { '/repo/README.md': '' },
  'neither a policy nor a server': { ...REPOSITORY },
  'a work tree that was pruned': { '/repo/.git': 'nonsense', [POLICY]: ON },
}

for (const [what, files] of Object.entries(NOT_HERE)) {
  test(`silent where there is ${what}`, async ($, on) => {
    const clock = mock.clock(on)
    const made = world(on, { files })
    await $.session.start(START)
    await clock.advance(600_000)
    await $.prompt.submit(typed('hello'))
    const ui = await $.ui.mount({ plugin: 'majordomus-brief', surface: 'terminal', component: 'StatusLine', props: PROPS })
    expect(made.asked).toEqual([])
    expect(made.ran).toEqual([])
    expect(made.entered).toEqual([{ text: 'hello', context: [] }])
    expect(JSON.stringify(await ui.drawn())).not.toMatch(/brief/)
  })
}

test('a linked work tree and a folder below its root find the lease of the repository', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on, {
    cwd: '/tree/src/deep',
    files: {
      '/tree/.git': 'gitdir: /repo/.git/worktrees/tree\n',
      '/tree/src/deep/a.ts': '',
      '/tree/.ai/repo/policy.yaml': ON,
      '/repo/.git/worktrees/tree/HEAD': 'ref: refs/heads/tree\n',
      '/repo/.git/worktrees/tree/commondir': '../..\n',
      [LEASE]: leaseOf(7, { socket: '/elsewhere/majordomus/6b4ca2db35cf-7.sock' }),
    },
  })
  await $.session.start(START)
  await clock.advance(1_000)
  expect(made.asked[0]?.socket).toBe('/elsewhere/majordomus/6b4ca2db35cf-7.sock')
  expect(made.asked[0]?.fields['root']).toBe('/tree')
})

// ---------------------------------------------------------------- state

test('busy from the start of a turn to its end, and each is told at once', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  await $.session.start(START)
  await clock.advance(1_000)
  await $.turn.start({ text: 'hi', turnId: 't1' })
  await clock.advance(1_000)
  await $.turn.start({ text: 'a helper', turnId: 't2', agentId: 'a' })
  await $.turn.complete({ ...answered('t2'), agentId: 'a' })
  await clock.advance(1_000)
  await $.turn.complete(answered('t1'))
  await clock.advance(1_000)
  expect(at(made, '/episodes/heartbeat').map(each => each['state'])).toEqual(['idle', 'busy', 'idle'])
})

test('waiting while a permission is open', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  await $.session.start(START)
  await $.turn.start({ text: 'hi', turnId: 't1' })
  await $.classic.Notification({ message: 'may it?', notification_type: 'permission_prompt' })
  await clock.advance(1_000)
  await $.turn.complete(answered('t1'))
  await clock.advance(1_000)
  expect(at(made, '/episodes/heartbeat').map(each => each['state'])).toEqual(['waiting', 'idle'])
})

test('a turn whose end was missed is over once the client says that it is idle', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  await $.session.start(START)
  await $.turn.start({ text: 'hi', turnId: 't1' })
  await clock.advance(1_000)
  await $.classic.Notification({ message: 'waiting for you', notification_type: 'idle_prompt' })
  await clock.advance(1_000)
  expect(at(made, '/episodes/heartbeat').map(each => each['state'])).toEqual(['busy', 'idle'])
})

test('after /clear the old episode ends, the new one begins, and the heartbeats go on', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  await $.session.start(START)
  await clock.advance(1_000)
  await $.session.end({ reason: 'clear', sessionId: 'one', resume: { id: 'one' } })
  made.session = 'two'
  await clock.advance(1_000)
  await clock.advance(60_000)
  expect(at(made, '/episodes/close')).toEqual([{ root: '/repo', session: 'one', reason: 'its client ended it: clear', pid: 4711 }])
  expect(at(made, '/episodes/heartbeat').map(each => each['session'])).toEqual(['one', 'two', 'two'])
})

test('a session whose end was missed is ended when another shows', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  await $.session.start(START)
  await clock.advance(1_000)
  made.session = 'two'
  await clock.advance(60_000)
  expect(at(made, '/episodes/close').map(each => each['session'])).toEqual(['one'])
})

test('the end of a session waits for no silent server', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  await $.session.start(START)
  await clock.advance(1_000)
  made.hold = () => clock.sleep(30_000)
  const ended = $.session.end({ reason: 'other', sessionId: 'one', resume: { id: 'one' } })
  await clock.advance(800)
  expect((await ended).sessionId).toBe('one')
})
