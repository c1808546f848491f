import type { EngineInterface } from 'claude-code'

import type { Checkout, Lease } from './checkout'
import { sha256 } from './digest'

/** Why no server is asked if the lease may belong to somebody else. */
export const UNPROVEN = 'the server that is named here is not proven to be yours; majordomus doctor says more'

// The engine's stat gives no owner. `command -p` runs no program of the repository; `-n` prints owners as numbers.
// `pwd -P` prints the git folder without links, as the server names it.
const LOOK = 'cd -P -- "$1" && pwd -P && command -p id -u && for path do command -p ls -ldn -- "$path" || exit 1; done'

const GIT = 'command -p git -C "$1" rev-parse --git-dir'

const LASTS_MS = 4_000

/** The required kinds of the state folder, the lease, the socket's folder and the socket, as `ls` prints them. */
const KINDS = ['d', '-', 'd', 's']

/** The proven leases. A lease with the same socket and epoch is that of the same server. */
const proven = new Set<string>()

/** Whether a lease and the whole path to its socket belong to the person. Checked once for each lease, by one process. */
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

/** Whether the socket's name fits this git folder and epoch, since a lease from an archive may name any socket. */
function namesOwnSocket(lease: Lease): boolean {
  try {
    return lease.socket.endsWith(`/majordomus/${sha256(lease.commonDir).slice(0, 12)}-${lease.epoch}.sock`)
  } catch {
    return false
  }
}

/**
 * Judge the git folder's name, our own uid and a row for each path. The git folder may belong to another user if git
 * accepts that. A socket with two names may be anybody's.
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

/** The number of a file's names. */
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
