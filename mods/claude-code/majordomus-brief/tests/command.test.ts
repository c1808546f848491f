import { expect, mock, test } from 'claude-code/testing'

import { START, at, world } from './world'

const SHOWN = { isFullscreen: true, columns: 100 }

function run(args: string) {
  return { command: 'brief', args, origin: { kind: 'composer' }, presentation: SHOWN } as const
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
    made.answers[path] = {}
    await $.session.start(START)
    expect((await $.command.run(run(` ${word} `))).text).toMatch(new RegExp(`^${word}d`))
    expect(at(made, path)).toEqual([{ root: '/repo', session: 'one' }])
  })
}

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
  ['no policy', { '/repo/.git/HEAD': '' }, /no policy/],
] as const) {
  test(`where there is ${what} that is said`, async ($, on) => {
    mock.clock(on)
    world(on, { files })
    await $.session.start(START)
    expect((await $.command.run(run(''))).text).toMatch(said)
  })
}
