import type { EngineInterface } from 'claude-code'

import type { Checkout } from './checkout'

// The engine's stat gives no owner. `command -p` runs no program of the repository; `-n` prints owners as numbers.
const OWNERS = 'command -p id -u; for path do command -p ls -ldn -- "$path" || exit 1; done'

const GIT = 'command -p git -C "$1" rev-parse --git-dir'

const LASTS_MS = 4_000

/** The result for each checkout, by the paths that lead to its git folder. */
const found = new Map<string, boolean>()

/**
 * Whether nobody else owns a part of the path from a work tree to the person's git folder (git's "dubious ownership"). Git
 * may accept it anyway (`safe.directory`); the proof of the lease handles another user's git folder. If this is unknown,
 * the answer is no, and it is checked again.
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

/** Judge our own uid, and a row of `ls` each for the shared git folder, the work tree, its `.git` and its own git folder. */
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
