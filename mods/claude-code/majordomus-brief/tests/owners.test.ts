import { describe, expect, mock } from 'claude-code/testing'

import { ON, OWN_WAY, START, UNREADABLE, at, leaseOf, test, typed, world } from './world'

const TREE = {
  '/tree/.git': 'gitdir: /repo/.git/worktrees/tree\n',
  '/tree/.ai/repo/policy.yaml': ON,
  '/repo/.git/worktrees/tree/HEAD': 'ref: refs/heads/tree\n',
  '/repo/.git/worktrees/tree/commondir': '../..\n',
  '/repo/.git/majordomus/lease.json': leaseOf(7),
}

/** The rows of a way in which one, counted from the shared git folder, belongs to somebody else. */
function foreign(row: number): string[] {
  return OWN_WAY.map((each, at) => (at === row + 1 ? each.replace(' 1000 ', ' 54321 ') : each))
}

describe('a way that somebody else owns leads nowhere', () => {
  const cases: Record<string, string[]> = {
    'a work tree of another user': foreign(1),
    'a .git of another user': foreign(2),
    'a git folder of another user that names ours': foreign(3),
    'a row too few': OWN_WAY.slice(0, -1),
    'no word at all': [],
  }
  for (const [name, way] of Object.entries(cases)) {
    test(name, async ($, on) => {
      const clock = mock.clock(on)
      const made = world(on, { way, answers: {} })
      await $.session.start(START)
      await clock.advance(300_000)
      await $.prompt.submit(typed('hello'))
      expect(made.ways).toBe(1)
      expect(made.asked).toEqual([])
      expect(made.proofs).toEqual([])
      expect(made.ran).toEqual([])
      expect(made.entered).toEqual([{ text: 'hello', context: [] }])
      const presentation = { isFullscreen: true, columns: 100 }
      const said = await $.command.run({ command: 'brief', args: '', origin: { kind: 'composer' }, presentation })
      expect(JSON.stringify(said)).toMatch(/not proven to be yours/)
    })
  }
})

test('the way is asked for once', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on)
  await $.session.start(START)
  await clock.advance(180_000)
  expect(at(made, '/episodes/heartbeat').length > 2).toBe(true)
  expect(made.ways).toBe(1)
})

test('a way of another user that git accepts serves', async ($, on) => {
  const clock = mock.clock(on)
  const made = world(on, { way: foreign(1), isAccepted: true })
  await $.session.start(START)
  await clock.advance(1_000)
  expect(at(made, '/episodes/heartbeat').length).toBe(1)
})

describe('a work tree whose repository cannot be told leads nowhere', () => {
  const cases: Record<string, Record<string, string>> = {
    'an empty commondir': { ...TREE, '/repo/.git/worktrees/tree/commondir': '\n' },
    'a commondir with a NUL in it': { ...TREE, '/repo/.git/worktrees/tree/commondir': '../..\0' },
    'a commondir that cannot be read': { ...TREE, '/repo/.git/worktrees/tree/commondir': UNREADABLE },
    'a .git that names no git folder': { ...TREE, '/tree/.git': 'gitdir: /repo/.git/worktrees/gone\n' },
    'a .git whose second line names one': { ...TREE, '/tree/.git': 'x\ngitdir: /repo/.git/worktrees/tree\n' },
  }
  for (const [name, files] of Object.entries(cases)) {
    test(name, async ($, on) => {
      const clock = mock.clock(on)
      const made = world(on, { cwd: '/tree', files })
      await $.session.start(START)
      await clock.advance(120_000)
      expect(made.ways).toBe(0)
      expect(made.asked).toEqual([])
      expect(made.ran).toEqual([])
    })
  }
})
