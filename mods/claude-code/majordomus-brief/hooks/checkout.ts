import type { EngineInterface } from 'claude-code'

import { POLICY } from './policy'

/** A git checkout: its root, and the folder that all checkouts of the repository share. */
export type Checkout = { root: string; commonDir: string }

/** Who answers for a repository: where its server listens, and the number and git folder that its answers must carry. */
export type Lease = { socket: string; epoch: number; commonDir: string }

/** The checkout around a folder, found by `.git`: a folder, or a file that names one. Null where there is none. */
export async function checkoutAround($: EngineInterface, folder: string): Promise<Checkout | null> {
  for (let root = folder; ; root = parentOf(root)) {
    const marker = `${root === '/' ? '' : root}/.git`
    const kind = await kindOf($, marker)
    if (kind === 'dir' && (await kindOf($, `${marker}/HEAD`)) !== null) return { root, commonDir: marker }
    if (kind === 'file') {
      const gitDir = namedBy(await text($, marker), root)
      return gitDir === null ? null : { root, commonDir: await commonDirOf($, gitDir) }
    }
    if (parentOf(root) === root) return null
  }
}

/** Whether the checkout has a policy, without which the mod is silent. */
export async function hasPolicy($: EngineInterface, checkout: Checkout): Promise<boolean> {
  return (await kindOf($, `${checkout.root}/${POLICY}`)) === 'file'
}

/** The policy's text; empty where it cannot be read. */
export async function policyOf($: EngineInterface, checkout: Checkout): Promise<string> {
  return text($, `${checkout.root}/${POLICY}`)
}

/** The lease of the repository; null where there is none, or none that can be used. */
export async function leaseOf($: EngineInterface, checkout: Checkout): Promise<Lease | null> {
  return leaseIn(await text($, `${checkout.commonDir}/majordomus/lease.json`))
}

/** The lease that a text spells, null where it spells none. */
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

/** The git folder that a file `.git` names, from the folder that it lies in; null where it names none. */
export function namedBy(file: string, root: string): string | null {
  const named = /^gitdir: (.+)$/m.exec(file.replace(/[\r\n]+$/, ''))?.[1]
  return named === undefined ? null : from(root, named)
}

async function commonDirOf($: EngineInterface, gitDir: string): Promise<string> {
  const named = (await text($, `${gitDir}/commondir`)).replace(/[\r\n]+$/, '')
  return named === '' ? gitDir : from(gitDir, named)
}

function from(folder: string, path: string): string {
  return path.startsWith('/') ? path : `${folder}/${path}`
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

async function text($: EngineInterface, path: string): Promise<string> {
  try {
    return await $.fs.read(path)
  } catch {
    return ''
  }
}
