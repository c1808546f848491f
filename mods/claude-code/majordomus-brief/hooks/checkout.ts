import type { EngineInterface } from 'claude-code'

import { LOCAL_POLICY, POLICY } from './policy'

/** A git checkout: its root and the `.git` in it, its own git folder, and the folder that all checkouts share. */
export type Checkout = { root: string; marker: string; gitDir: string; commonDir: string }

/** The server of a repository: its socket, and the epoch and git folder that its answers must name. */
export type Lease = { socket: string; epoch: number; commonDir: string }

/**
 * Find the checkout around a folder by `.git`, which is a folder or a file that names one. Null if there is none, or if it
 * is unknown which repository it belongs to. `fastpath/locate.py` has the same rules.
 */
export async function checkoutAround($: EngineInterface, folder: string): Promise<Checkout | null> {
  for (let root = folder; ; root = parentOf(root)) {
    const marker = `${root === '/' ? '' : root}/.git`
    const kind = await kindOf($, marker)
    if (kind === 'dir' && (await isGitDir($, marker))) return checkoutAt($, root, marker, marker)
    if (kind === 'file') {
      const gitDir = namedBy((await text($, marker)) ?? '', root)
      return gitDir !== null && (await isGitDir($, gitDir)) ? checkoutAt($, root, marker, gitDir) : null
    }
    if (parentOf(root) === root) return null
  }
}

async function checkoutAt($: EngineInterface, root: string, marker: string, gitDir: string): Promise<Checkout | null> {
  const commonDir = await commonDirOf($, gitDir)
  return commonDir === null ? null : { root, marker, gitDir, commonDir }
}

/** Whether git itself would take a folder for a git folder. */
async function isGitDir($: EngineInterface, folder: string): Promise<boolean> {
  if ((await kindOf($, `${folder}/HEAD`)) === null) return false
  if ((await kindOf($, `${folder}/commondir`)) === 'file') return true
  return (await kindOf($, `${folder}/objects`)) === 'dir' && (await kindOf($, `${folder}/refs`)) === 'dir'
}

/** Whether a policy is in force in the checkout, or a server ever held its repository. Elsewhere the mod is silent. */
export async function isInUse($: EngineInterface, checkout: Checkout): Promise<boolean> {
  return (await policyPath($, checkout)) !== null || (await kindOf($, `${checkout.commonDir}/majordomus`)) === 'dir'
}

/** The text of the policy in force. Empty if there is none or it cannot be read. */
export async function policyOf($: EngineInterface, checkout: Checkout): Promise<string> {
  const path = await policyPath($, checkout)
  return path === null ? '' : ((await text($, path)) ?? '')
}

/** The policy in force: the first file that exists, even if it cannot be read. `policy.py` has the same rule. */
async function policyPath($: EngineInterface, checkout: Checkout): Promise<string | null> {
  const commonDir = resolved(checkout.commonDir)
  const primary = commonDir.endsWith('/.git') ? [`${parentOf(commonDir)}/${POLICY}`] : []
  for (const path of [`${checkout.root}/${POLICY}`, ...primary, `${commonDir}/${LOCAL_POLICY}`]) {
    if (!(await isAbsent($, path))) return path
  }
  return null
}

/** The lease of the repository. Null if there is none that can be used. */
export async function leaseOf($: EngineInterface, checkout: Checkout): Promise<Lease | null> {
  return leaseIn((await text($, `${checkout.commonDir}/majordomus/lease.json`)) ?? '')
}

/** Parse a lease. Null if the text is not a valid one. */
export function leaseIn(spelled: string): Lease | null {
  try {
    const { socket, epoch, common_dir: commonDir } = JSON.parse(spelled) as Record<string, unknown>
    const isUsable = typeof socket === 'string' && socket.startsWith('/') && !socket.includes('\0')
    if (!isUsable || typeof commonDir !== 'string' || !Number.isSafeInteger(epoch)) return null
    return { socket, epoch: epoch as number, commonDir }
  } catch {
    return null
  }
}

/** The git folder that a file `.git` names, relative to the file's folder. Null if it names none. */
export function namedBy(file: string, root: string): string | null {
  const named = file.replace(/[\r\n]+$/, '')
  return named.startsWith('gitdir: ') && !named.includes('\0') ? from(root, named.slice('gitdir: '.length)) : null
}

/** The folder that all checkouts share. Without a file `commondir` it is the git folder; null if that file cannot be read. */
async function commonDirOf($: EngineInterface, gitDir: string): Promise<string | null> {
  const path = `${gitDir}/commondir`
  const file = await text($, path)
  if (file === null) return (await isAbsent($, path)) ? gitDir : null
  const named = file.replace(/[\r\n]+$/, '')
  return named === '' || named.includes('\0') ? null : from(gitDir, named)
}

/** Whether the engine says that nothing is there. */
async function isAbsent($: EngineInterface, path: string): Promise<boolean> {
  try {
    await $.fs.stat(path)
    return false
  } catch (fault) {
    return String(fault).includes('ENOENT')
  }
}

function from(folder: string, path: string): string {
  return path.startsWith('/') ? path : `${folder}/${path}`
}

/** The path with `..` resolved, since git writes such a path into the file `commondir`. */
function resolved(path: string): string {
  const steps: string[] = []
  for (const step of path.split('/')) {
    if (step === '..') steps.pop()
    else if (step !== '.') steps.push(step)
  }
  return steps.join('/')
}

function parentOf(folder: string): string {
  return folder.slice(0, Math.max(folder.lastIndexOf('/'), 1))
}

async function kindOf($: EngineInterface, path: string): Promise<string | null> {
  try {
    return (await $.fs.stat(path)).kind
  } catch {
    return null
  }
}

/** The text of a file. Null if it cannot be read. */
async function text($: EngineInterface, path: string): Promise<string | null> {
  try {
    return await $.fs.read(path)
  } catch {
    return null
  }
}
