import { describe, expect, mock, test } from 'claude-code/testing'

import { LEASE, OWN, START, at, looked, world } from './world'

const EVERY_SECOND = { answers: { '/episodes/heartbeat': looked({ next_look_seconds: 1 }) } }

/** The rows of a look in which one, counted from the git folder, is another. */
function changed(row: number, from: string, to: string): string[] {
  return OWN.map((each, at) => (at === row + 1 ? each.replace(from, to) : each))
}

test('a lease is looked at once, and anew when another server holds', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on, EVERY_SECOND)
  await $.session.start(START)
  await clock.advance(10_000)
  expect(at(made, '/episodes/heartbeat').length > 5).toBe(true)
  expect(made.proofs).toEqual([['/repo/.git/.', '/repo/.git/majordomus', LEASE, '/run', '/run/7.sock']])
  made.files[LEASE] = JSON.stringify({ socket: '/run/8.sock', epoch: 8 })
  made.epoch = '8'
  await clock.advance(5_000)
  expect(made.proofs.length).toBe(2)
})

describe('what is not proven to be ours is not asked', () => {
  const cases: Record<string, string[]> = {
    'a git folder of another user': changed(0, ' 1000 ', ' 54321 '),
    'a state folder of another user': changed(1, ' 1000 ', ' 54321 '),
    'a state folder that others may write': changed(1, 'drwx------', 'drwxrwx---'),
    'a state folder that is a link': changed(1, 'drwx', 'lrwx'),
    'a lease of another user': changed(2, ' 1000 ', ' 54321 '),
    'a lease that everybody may write': changed(2, '-rw-------', '-rw-rw-rw-'),
    'a folder of sockets of another user': changed(3, ' 1000 ', ' 0 '),
    'a folder of sockets that everybody may write': changed(3, 'drwx------', 'drwxrwxrwt'),
    'a socket of another user': changed(4, ' 1000 ', ' 54321 '),
    'a link instead of a socket': changed(4, 'srw-', 'lrwx'),
    'a row too few': OWN.slice(0, -1),
    'a name with a line end in it': [...OWN, 'srw------- 1 1000 1000 0 Dec  1 10:00 x'],
    'no word at all': [],
  }
  for (const [name, owners] of Object.entries(cases)) {
    test(name, async ($, on) => {
      const clock = mock.clock(on)
      const made = world(on, { owners })
      await $.session.start(START)
      await clock.advance(5_000)
      expect(made.proofs.length > 0).toBe(true)
      expect(made.asked).toEqual([])
    })
  }
})

test('a git folder of another user that git accepts serves', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on, { owners: changed(0, ' 1000 ', ' 54321 '), isAccepted: true })
  await $.session.start(START)
  await clock.advance(1_000)
  expect(at(made, '/episodes/heartbeat').length).toBe(1)
})
