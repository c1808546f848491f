import type { EngineInterface } from 'claude-code'

import type { Checkout, Lease } from './checkout'
import { sha256 } from './digest'

/** Why nobody is asked where a lease may be somebody else's. */
export const UNPROVEN = 'the server that is named here is not proven to be yours; majordomus doctor says more'

// The engine's own stat tells no owner. `command -p` takes no program of the repository's; `-n` gives owners as numbers.
// `pwd -P` tells the git folder without links, as the server names it.
const LOOK = 'cd -P -- "$1" && pwd -P && command -p id -u && for path do command -p ls -ldn -- "$path" || exit 1; done'

const GIT = 'command -p git -C "$1" rev-parse --git-dir'

const LASTS_MS = 4_000

/** What the state folder, the lease, the folder of the socket and the socket must be, as `ls` writes it. */
const KINDS = ['d', '-', 'd', 's']

/** The leases that were proven; whoever holds the same socket and number is the same server. */
const proven = new Set<string>()

/** Whether a lease, and all that leads to its socket, is the person's own; looked at once a lease, by one process. */
export async function isProven($: EngineInterface, checkout: Checkout, lease: Lease): Promise<boolean> {
  const key = [checkout.commonDir, lease.socket, lease.epoch, lease.commonDir].join('\0')
  if (proven.has(key)) return true
  if (!namesOwnSocket(lease)) return false
  const state = `${checkout.commonDir}/majordomus`
  const folder = lease.socket.slice(0, lease.socket.lastIndexOf('/')) || '/'
  const told = await run($, LOOK, [`${checkout.commonDir}/.`, state, `${state}/lease.json`, folder, lease.socket])
  if (told === null || !(await areOwn($, checkout, lease, told.trimEnd().split('\n')))) return false
  proven.add(key)
  return true
}

/** Whether the socket is that of a server of this git folder and number: a lease that came with an archive may name any. */
function namesOwnSocket(lease: Lease): boolean {
  try {
    return lease.socket.endsWith(`/majordomus/${sha256(lease.commonDir).slice(0, 12)}-${lease.epoch}.sock`)
  } catch {
    return false
  }
}

/**
 * Judge the git folder's name, our own number and a row for each path. The git folder may be another's, where git accepts
 * it all the same; a socket with two names may be anybody's.
 */
async function areOwn($: EngineInterface, checkout: Checkout, lease: Lease, lines: string[]): Promise<boolean> {
  const [commonDir, uid, git, ...rows] = lines
  if (commonDir !== lease.commonDir || uid === undefined || git === undefined || rows.length !== KINDS.length) return false
  if (!rows.every((row, at) => row[0] === KINDS[at] && ownerOf(row) === uid && !isWide(row))) return false
  if (namesOf(rows[rows.length - 1] ?? '') !== '1') return false
  return ownerOf(git) === uid || (await run($, GIT, [checkout.root])) !== null
}

function ownerOf(row: string): string | undefined {
  return row.split(/\s+/)[2]
}

/** How many names a file has. */
function namesOf(row: string): string | undefined {
  return row.split(/\s+/)[1]
}

/** Whether the group or everybody may write it. */
function isWide(row: string): boolean {
  return row[5] === 'w' || row[8] === 'w'
}

async function run($: EngineInterface, script: string, words: string[]): Promise<string | null> {
  try {
    const done = await $.process.run(['/bin/sh', '-c', script, 'sh', ...words], { timeoutMs: LASTS_MS })
    return done.exitCode === 0 ? done.stdout : null
  } catch {
    return null
  }
}
