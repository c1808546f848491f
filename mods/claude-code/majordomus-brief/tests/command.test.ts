import { expect, mock } from 'claude-code/testing'

import { REPOSITORY, START, at, test, world } from './world'

const SHOWN = { isFullscreen: true, columns: 100 }

function run(args: string) {
  return { command: 'brief', args, origin: { kind: 'composer' }, presentation: SHOWN } as const
}

/** The answer about the wakes, of this session and another. */
function wakes(status: string, reason: string | null = null) {
  const other = { session: 'two', status: 'on', reason: null }
  return { at: '', paused: null, sessions: [other, { session: 'one', status, reason }] }
}

test('/brief prints the brief for the person alone, and submits nothing', async ($, on) => {
  mock.clock(on)
  const made = world(on)
  made.answers['/brief'] = 'peers 3\n'
  await $.session.start(START)
  const told = await $.command.run(run(''))
  expect(made.commands).toEqual(['brief'])
  expect(told).toEqual({ text: '\npeers 3', isTextDisplayOnly: true })
  expect(at(made, '/brief')).toEqual([{ root: '/repo', session: 'one', format: 'text', width: '92' }])
  expect(made.submitted).toEqual([])
})

for (const [word, path] of [['pause', '/wakes/pause'], ['resume', '/wakes/resume']] as const) {
  test(`/brief ${word} ${word}s the wakes of this session alone`, async ($, on) => {
    mock.clock(on)
    const made = world(on)
    made.answers[path] = wakes(word === 'pause' ? 'paused' : 'on')
    await $.session.start(START)
    expect((await $.command.run(run(` ${word} `))).text).toMatch(new RegExp(`^${word}d`))
    expect(at(made, path)).toEqual([{ root: '/repo', session: 'one' }])
  })
}

const NOT_WOKEN = [
  ['pause', wakes('off', 'the switch is off'), 'remembered, but nobody is woken here: the switch is off'],
  ['resume', wakes('off', 'waking is not\u001b[2J trusted'), 'remembered, but nobody is woken here: waking is not [2J trusted'],
  ['resume', wakes('limit', '12 wakes'), 'remembered, but this session is not woken: 12 wakes'],
  ['resume', wakes('stopped', null), 'remembered, but this session is not woken: stopped'],
  ['resume', wakes('paused', 'paused'), 'remembered, but nobody is woken here: all sessions of this repository are paused; majordomus wake resume --repository ends that'],
  ['resume', { sessions: [] }, 'remembered; the server does not say whether this session is woken'],
  ['pause', {}, 'remembered; the server does not say whether this session is woken'],
] as const

for (const [word, answer, said] of NOT_WOKEN) {
  test(`/brief ${word} says what is so where the server answers ${JSON.stringify(answer)}`, async ($, on) => {
    mock.clock(on)
    const made = world(on)
    made.answers[`/wakes/${word}`] = answer
    await $.session.start(START)
    expect((await $.command.run(run(word))).text).toBe(said)
  })
}

test('what the server refuses is no reason to start one', async ($, on) => {
  mock.clock(on)
  const made = world(on, { status: 404 })
  made.answers['/wakes/pause'] = { error: 'no episode is open' }
  await $.session.start(START)
  expect((await $.command.run(run('pause'))).text).toBe('refused: no episode is open')
})

test('an unknown word is told what there is, and asks nothing', async ($, on) => {
  mock.clock(on)
  const made = world(on)
  await $.session.start(START)
  expect((await $.command.run(run('stop'))).text).toMatch(/pause.*resume/)
  expect(made.asked).toEqual([])
})

test('without a server the brief is unread, and why', async ($, on) => {
  mock.clock(on)
  world(on, { answers: {} })
  await $.session.start(START)
  expect((await $.command.run(run(''))).text).toMatch(/^unread: no server; majordomus serve ensure/)
})

for (const [what, files, said] of [
  ['no git', {}, /no git checkout/],
  ['no policy', { ...REPOSITORY }, /no policy/],
] as const) {
  test(`where there is ${what} that is said`, async ($, on) => {
    mock.clock(on)
    world(on, { files })
    await $.session.start(START)
    expect((await $.command.run(run(''))).text).toMatch(said)
  })
}
