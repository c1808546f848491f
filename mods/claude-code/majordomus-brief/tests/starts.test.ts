import { describe, expect, mock } from 'claude-code/testing'

import { sessionSwitch } from '../hooks/policy'
import { ON, POLICY, REPOSITORY, START, at, heartbeat, test, world } from './world'

const PROPS = { text: null, isManaged: false, isWorking: false, maxRows: 5, columns: 96 }

/** A world in which no server answers. */
const gone = () => ({ answers: {} })

test('no server: one is started, and every few minutes again', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on, { ...gone(), exitCode: 1 })
  await $.session.start(START)
  await clock.advance(1_000)
  expect(made.ran).toEqual([['majordomus', 'serve', 'ensure', '--unless-stopped', '--root', '/repo']])
  await clock.advance(170_000)
  expect(made.ran.length).toBe(1)
  await clock.advance(30_000)
  expect(made.ran.length).toBe(2)
  const ui = await $.ui.mount({ plugin: 'majordomus-brief', surface: 'terminal', component: 'StatusLine', props: PROPS })
  expect(JSON.stringify(await ui.drawn())).toMatch(/brief \? · majordomus: no server can run/)
})

test('once it has started it is asked at once', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on, gone())
  await $.session.start(START)
  await clock.advance(1_000)
  made.answers['/episodes/heartbeat'] = heartbeat()
  await clock.advance(1_000)
  const ui = await $.ui.mount({ plugin: 'majordomus-brief', surface: 'terminal', component: 'StatusLine', props: PROPS })
  expect(JSON.stringify(await ui.drawn())).toMatch(/peers 3/)
})

for (const [what, policy] of Object.entries({
  'the switch is off': 'session:\n  brief_on_interval: false\n',
  'the switch is text': 'session:\n  brief_on_interval: "true"\n',
  'nothing is set': 'version: 1\n',
  'starting by itself is off': `${ON}  ensure_server_on_start: false\n`,
})) {
  test(`no server is started where ${what}, and the line says that none answers`, async ($, on) => {
    const clock = mock.clock(on)
    const made = world(on, gone())
    made.files[POLICY] = policy
    await $.session.start(START)
    await clock.advance(200_000)
    expect(made.ran).toEqual([])
    const ui = await $.ui.mount({ plugin: 'majordomus-brief', surface: 'terminal', component: 'StatusLine', props: PROPS })
    expect(JSON.stringify(await ui.drawn())).toMatch(/brief \? · no server · majordomus serve ensure starts one/)
  })
}

const WORKTREE = {
  ...REPOSITORY,
  '/tree/.git': 'gitdir: /repo/.git/worktrees/tree\n',
  '/repo/.git/worktrees/tree/HEAD': 'ref: refs/heads/tree\n',
  '/repo/.git/worktrees/tree/commondir': '../..\n',
}
const OFF = 'session:\n  brief_on_interval: false\n'

for (const [what, files, starts] of [
  ["the primary checkout's policy", { [POLICY]: ON }, true],
  ["the clone's own policy", { '/repo/.git/majordomus/policy.yaml': ON }, true],
  ['its own policy before any other', { '/tree/.ai/repo/policy.yaml': OFF, [POLICY]: ON }, false],
  ["the primary checkout's before the clone's", { [POLICY]: OFF, '/repo/.git/majordomus/policy.yaml': ON }, false],
] as const) {
  test(`a work tree follows ${what}`, async ($, on) => {
    const clock = mock.clock(on)
    const made = world(on, { ...gone(), files: { ...WORKTREE, ...files }, cwd: '/tree' })
    await $.session.start({ ...START, cwd: '/tree' })
    await clock.advance(1_000)
    expect(made.ran.length).toBe(starts ? 1 : 0)
  })
}

test('a server that refuses is not started anew', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on, { status: 400 })
  made.answers['/episodes/heartbeat'] = { error: 'session is no parameter here' }
  await $.session.start(START)
  await clock.advance(60_000)
  expect(made.ran).toEqual([])
  expect(at(made, '/episodes/heartbeat').length > 1).toBe(true)
})

describe('the switch, without a server', () => {
  const cases: [string, boolean | null][] = [
    ['session:\n  brief_on_interval: true\n', true],
    ['version: 1\r\nsession:\r\n  brief_on_interval: true\r\n', true],
    ['session:   # how\n    # when\n    wake_limit: 3\n\n    brief_on_interval: true # yes\nserver:\n  idle_minutes: 3\n', true],
    ['session: {brief_on_interval: true}\n', true],
    ['session: { wake_limit: 3, brief_on_interval: true }\n', true],
    ['session:\n  brief_on_interval: false\n', false],
    ['session:\n  brief_on_interval: True\n', null],
    ['session:\n  brief_on_interval: yes\n', null],
    ['session:\n  brief_on_interval: 1\n', null],
    ['session:\n  brief_on_interval: "true"\n', null],
    ['session:\n  brief_on_interval:true\n', null],
    ['session:\n  brief_on_interval: true\n  brief_on_interval: false\n', null],
    ['session:\n  brief_on_interval: true\nsession:\n  brief_on_interval: true\n', null],
    ['session:\n  freshness:\n    brief_on_interval: true\n', null],
    ['# session:\n#   brief_on_interval: true\n', null],
    ['brief_on_interval: true\n', null],
    ['server:\n  brief_on_interval: true\n', null],
    ['session: &a\n  brief_on_interval: true\n', null],
    ['session:\n', null],
    ['', null],
  ]
  for (const [policy, value] of cases) {
    test(JSON.stringify(policy), () => {
      expect(sessionSwitch(policy, 'brief_on_interval')).toBe(value)
    })
  }
})
