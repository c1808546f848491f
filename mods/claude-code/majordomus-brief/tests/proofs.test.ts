import { describe, expect, mock } from 'claude-code/testing'

import { sha256 } from '../hooks/digest'
import { LEASE, OWN, SOCKETS, START, at, heartbeat, leaseOf, socketOf, test, world } from './world'

const EVERY_SECOND = { answers: { '/episodes/heartbeat': heartbeat({ next_heartbeat_seconds: 1 }) } }

/** The rows of a proof in which one, counted from the git folder, is another. */
function changed(row: number, from: string, to: string): string[] {
  return OWN.map((each, at) => (at === row + 2 ? each.replace(from, to) : each))
}

test('a lease is looked at once, and anew when another server holds', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on, EVERY_SECOND)
  await $.session.start(START)
  await clock.advance(10_000)
  expect(at(made, '/episodes/heartbeat').length > 5).toBe(true)
  expect(made.proofs).toEqual([['/repo/.git/.', '/repo/.git/majordomus', LEASE, SOCKETS, socketOf(7)]])
  made.files[LEASE] = leaseOf(8)
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
    'a socket with another name too': changed(4, ' 1 1000', ' 2 1000'),
    'a git folder that the lease does not name': OWN.map((each, at) => (at === 0 ? '/other/.git' : each)),
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

describe('a socket that is not the own one is neither asked nor looked at', () => {
  const cases: Record<string, string> = {
    'an agent of the person': leaseOf(7, { socket: '/run/ssh-agent.sock' }),
    'a name that only ends alike': leaseOf(7, { socket: '/run/other/6b4ca2db35cf-7.sock' }),
    'another epoch': leaseOf(7, { socket: socketOf(8) }),
    'the server of another repository': leaseOf(7, { socket: `${SOCKETS}/f00000000000-7.sock` }),
    'a lease that names no git folder': leaseOf(7, { common_dir: undefined }),
    'a git folder that is no text': leaseOf(7, { common_dir: '\ud800' }),
  }
  for (const [name, lease] of Object.entries(cases)) {
    test(name, async ($, on) => {
      const clock = mock.clock(on)
      const made = world(on)
      made.files[LEASE] = lease
      await $.session.start(START)
      await clock.advance(5_000)
      expect(made.proofs).toEqual([])
      expect(made.asked).toEqual([])
    })
  }
})

test('the digest is SHA-256', () => {
  expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  expect(sha256(`${'a'.repeat(70)}ě`)).toBe('4ff52c858acba7b2280a83838293c32fec5e566aee71d9b452a3cc10de8b3e1e')
})

test('a git folder of another user that git accepts serves', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on, { owners: changed(0, ' 1000 ', ' 54321 '), isAccepted: true })
  await $.session.start(START)
  await clock.advance(1_000)
  expect(at(made, '/episodes/heartbeat').length).toBe(1)
})
