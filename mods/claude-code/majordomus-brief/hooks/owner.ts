import type { EngineInterface } from 'claude-code'

import type { Checkout } from './checkout'

// The engine's own stat tells no owner. `command -p` takes no program of the repository's; `-n` gives owners as numbers.
const OWNERS = 'command -p id -u; for path do command -p ls -ldn -- "$path" || exit 1; done'

const GIT = 'command -p git -C "$1" rev-parse --git-dir'

const LASTS_MS = 4_000

/** What was found of each checkout, by the paths that lead to its git folder. */
const found = new Map<string, boolean>()

/**
 * Whether nobody else owns the way from a work tree to a git folder of the person's: git's "dubious ownership". Git may
 * accept it all the same (`safe.directory`); a git folder of somebody else's is for the proof of the lease. What cannot be
 * told is no yes, and is asked again.
 */
export async function isOwnWay($: EngineInterface, checkout: Checkout): Promise<boolean> {
  const { root, marker, gitDir, commonDir } = checkout
  const key = [root, marker, gitDir, commonDir].join('\0')
  const known = found.get(key)
  if (known !== undefined) return known
  const told = await run($, OWNERS, [`${commonDir}/.`, `${root}/.`, marker, `${gitDir}/.`])
  if (told === null) return false
  const isOwn = areOwn(told.trimEnd().split('\n')) || (await run($, GIT, [root])) !== null
  found.set(key, isOwn)
  return isOwn
}

/** Judge our own number and a row for the git folder that is shared, the work tree, its `.git` and its own git folder. */
function areOwn([uid, shared, ...way]: string[]): boolean {
  if (uid === undefined || shared === undefined || way.length !== 3) return false
  return ownerOf(shared) !== uid || way.every(row => ownerOf(row) === uid)
}

function ownerOf(row: string): string | undefined {
  return row.split(/\s+/)[2]
}

async function run($: EngineInterface, script: string, words: string[]): Promise<string | null> {
  try {
    const done = await $.process.run(['/bin/sh', '-c', script, 'sh', ...words], { timeoutMs: LASTS_MS })
    return done.exitCode === 0 ? done.stdout : null
  } catch {
    return null
  }
}
