import { expect, mock } from 'claude-code/testing'

import { START, at, heartbeat, test, typed, world } from './world'

const WAKE = { id: 'p1', text: 'the brief' }

test('a prompt that is handed out is submitted once, and its outcome told', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  made.answers['/episodes/heartbeat'] = heartbeat({ prompt: WAKE })
  await $.session.start(START)
  await clock.advance(1_000)
  made.answers['/episodes/heartbeat'] = heartbeat()
  await clock.advance(120_000)
  expect(made.submitted).toEqual(['the brief'])
  expect(at(made, '/episodes/outcomes')).toEqual([{ root: '/repo', session: 'one', prompt: 'p1', outcome: 'submitted' }])
})

test('an outcome is told until the server has taken it', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  made.answers['/episodes/heartbeat'] = heartbeat({ prompt: WAKE })
  delete made.answers['/episodes/outcomes']
  await $.session.start(START)
  await clock.advance(2_000)
  made.answers['/episodes/heartbeat'] = heartbeat()
  made.answers['/episodes/outcomes'] = {}
  await clock.advance(120_000)
  expect(at(made, '/episodes/outcomes').map(each => each['outcome'])).toEqual(['submitted', 'submitted'])
  expect(made.submitted.length).toBe(1)
})

test('never a second prompt while one waits', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  made.answers['/episodes/heartbeat'] = heartbeat({ prompt: WAKE, next_heartbeat_seconds: 1 })
  made.submit = async text => {
    await clock.sleep(10_000)
    return { text }
  }
  await $.session.start(START)
  await clock.advance(9_000)
  expect(made.submitted).toEqual(['the brief'])
  // While it waits the server is told that the box is taken, so it hands out none.
  expect(at(made, '/episodes/heartbeat').at(-1)?.['draft']).toBe(true)
  expect(at(made, '/episodes/outcomes').map(each => each['outcome']).includes('held')).toBe(true)
})

test('never while a draft is in the box', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on, { draft: 'half a thought' })
  made.answers['/episodes/heartbeat'] = heartbeat({ prompt: WAKE })
  await $.session.start(START)
  await clock.advance(1_000)
  expect(at(made, '/episodes/heartbeat')[0]?.['draft']).toBe(true)
  expect(made.submitted).toEqual([])
  await clock.advance(1_000)
  expect(at(made, '/episodes/outcomes')[0]?.['outcome']).toBe('held')
})

test('after Esc the prompt is dropped, until the person types', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  made.answers['/episodes/heartbeat'] = heartbeat({ prompt: WAKE })
  await $.session.start(START)
  await $.session.stop({ isTurnRunning: true })
  await clock.advance(2_000)
  expect(made.submitted).toEqual([])
  expect(at(made, '/episodes/outcomes')[0]?.['outcome']).toBe('dropped')
  made.answers['/episodes/heartbeat'] = heartbeat({ prompt: { id: 'p2', text: 'a later brief' } })
  await $.prompt.submit(typed('go on'))
  await clock.advance(60_000)
  expect(made.submitted).toEqual(['a later brief'])
})

test('a prompt that is handed out again is not submitted again, and its outcome is told again', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  made.answers['/episodes/heartbeat'] = heartbeat({ prompt: WAKE })
  await $.session.start(START)
  await clock.advance(180_000)
  expect(made.submitted).toEqual(['the brief'])
  const told = at(made, '/episodes/outcomes').map(each => `${each['prompt']} ${each['outcome']}`)
  expect(told.length > 1).toBe(true)
  expect([...new Set(told)]).toEqual(['p1 submitted'])
})

test('what the engine drops is told with its reason, and nothing is submitted until the person types', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  made.answers['/episodes/heartbeat'] = heartbeat({ prompt: WAKE })
  made.submit = () => ({ drop: 'the session was stopped' })
  await $.session.start(START)
  await clock.advance(130_000)
  expect(made.submitted.length).toBe(1)
  expect(at(made, '/episodes/outcomes')[0]).toEqual({ root: '/repo', session: 'one', prompt: 'p1', outcome: 'dropped', reason: 'the session was stopped' })
})

test('a submission that fails is told as failed, and the heartbeats go on', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  made.answers['/episodes/heartbeat'] = heartbeat({ prompt: WAKE })
  made.submit = () => Promise.reject(new Error('no'))
  await $.session.start(START)
  await clock.advance(2_000)
  expect(at(made, '/episodes/outcomes')[0]?.['outcome']).toBe('failed')
  await clock.advance(60_000)
  expect(at(made, '/episodes/heartbeat').length > 1).toBe(true)
})

test('a session that a script drives gets no prompt', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  await $.session.start({ ...START, surface: null, isInteractive: false })
  await clock.advance(1_000)
  expect(at(made, '/episodes/heartbeat')[0]?.['draft']).toBe(true)
})

// ---------------------------------------------------------------- the person's own prompt

test('a prompt of the person carries what the server attaches', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  made.answers['/episodes/prompt'] = { context: '[alerts]' }
  await $.session.start(START)
  await clock.advance(1_000)
  await $.prompt.submit({ ...typed('hello'), context: ['theirs'] })
  expect(made.entered).toEqual([{ text: 'hello', context: ['theirs', '[alerts]'] }])
  expect(at(made, '/episodes/prompt')).toEqual([{ root: '/repo', session: 'one', human: true, provider: 'claude-code', pid: 4711 }])
})

test('the text of a prompt is told to nobody', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  await $.session.start(START)
  await clock.advance(1_000)
  await $.prompt.submit(typed('a secret'))
  await clock.advance(1_000)
  expect(JSON.stringify(made.asked)).not.toMatch(/a secret/)
})

for (const kind of ['task-notification', 'scheduled-trigger', 'peer'] as const) {
  test(`a prompt that is no person's carries nothing: ${kind}`, async ($, on) => {
    const clock = mock.clock(on)
    const made = world(on)
    made.answers['/episodes/prompt'] = { context: '[alerts]' }
    await $.session.start(START)
    await clock.advance(1_000)
    await $.prompt.submit({ text: 'x', wait: false, origin: { kind } as never })
    expect(made.entered).toEqual([{ text: 'x', context: [] }])
    expect(at(made, '/episodes/prompt')).toEqual([])
  })
}

for (const [what, change] of Object.entries({
  'a closed socket': { answers: { '/episodes/heartbeat': heartbeat() } },
  'an answer that is no JSON': { answers: { '/episodes/heartbeat': heartbeat(), '/episodes/prompt': 'nonsense' } },
  'a context that is no text': { answers: { '/episodes/heartbeat': heartbeat(), '/episodes/prompt': { context: 7 } } },
})) {
  test(`the prompt goes on as it is: ${what}`, async ($, on) => {
    const clock = mock.clock(on)
    const made = world(on, change)
    await $.session.start(START)
    await clock.advance(1_000)
    await $.prompt.submit(typed('hello'))
    expect(made.entered).toEqual([{ text: 'hello', context: [] }])
  })
}

test('the prompt waits for no silent server', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  await $.session.start(START)
  await clock.advance(1_000)
  made.hold = () => clock.sleep(30_000)
  const sent = $.prompt.submit(typed('hello'))
  await clock.advance(800)
  await sent
  expect(made.entered).toEqual([{ text: 'hello', context: [] }])
})
