import type { EngineInterface } from 'claude-code'

import { type Checkout, type Lease, leaseOf } from './checkout'
import { UNPROVEN, isProven } from './proof'

/** No server answered, or none that can be believed. The message completes a line. */
export class NoAnswer extends Error {}

/** The server understood the request and refused it. It would refuse it again. */
export class Refused extends Error {}

/** Why there is no answer if no server holds the repository. */
export const NO_SERVER = 'no server'

/** How long a request may take. A person waits for it only while a prompt is on its way. */
export const PATIENCE_MS = 4_000

const BASE = 'http://localhost/api/v1'

/** The query of a GET or the body of a POST. */
export type Fields = Record<string, unknown>

/** Ask the server of the repository. Returns the answer as text. Throws NoAnswer and Refused. */
export async function ask(
  $: EngineInterface,
  checkout: Checkout,
  method: 'GET' | 'POST',
  path: string,
  fields: Fields,
  patienceMs: number = PATIENCE_MS,
): Promise<string> {
  const lease = await leaseOf($, checkout)
  if (lease === null) throw new NoAnswer(NO_SERVER)
  if (!(await isProven($, checkout, lease))) throw new NoAnswer(UNPROVEN)
  const response = await within($, patienceMs, fetched($, lease.socket, method, path, { root: checkout.root, ...fields }))
  if (!isOf(lease, response.headers)) throw new NoAnswer(NO_SERVER)
  if (response.status === 200) return response.text
  const said = sentenceIn(response.text) ?? `the server answered ${response.status}`
  throw response.status >= 400 && response.status < 500 && response.status !== 409 ? new Refused(said) : new NoAnswer(said)
}

/** Whether an answer comes from the holder. It names epoch and git folder, since another server may take over a socket's path. */
function isOf(lease: Lease, headers: Readonly<Record<string, string>>): boolean {
  try {
    const repository = decodeURIComponent(headers['majordomus-repository'] ?? '')
    return headers['majordomus-epoch'] === String(lease.epoch) && repository === lease.commonDir
  } catch {
    return false
  }
}

/** The same for an answer that is a JSON object. */
export async function askFor<Answer>(
  $: EngineInterface,
  checkout: Checkout,
  path: string,
  fields: Fields,
  patienceMs: number = PATIENCE_MS,
): Promise<Answer> {
  const told = await ask($, checkout, 'POST', path, fields, patienceMs)
  try {
    return JSON.parse(told) as Answer
  } catch {
    throw new NoAnswer('the server answered no JSON')
  }
}

async function fetched($: EngineInterface, socketPath: string, method: 'GET' | 'POST', path: string, fields: Fields) {
  try {
    if (method === 'GET') return await $.http.fetch(`${BASE}${path}?${query(fields)}`, { method, socketPath })
    const headers = { 'content-type': 'application/json' }
    return await $.http.fetch(`${BASE}${path}`, { method, headers, body: JSON.stringify(fields), socketPath })
  } catch {
    throw new NoAnswer(NO_SERVER)
  }
}

/** The result of `work` if it comes in time. The engine itself ends a request only after half a minute. */
async function within<Result>($: EngineInterface, ms: number, work: Promise<Result>): Promise<Result> {
  const waiting = new AbortController()
  const late = $.clock.sleep(ms, { signal: waiting.signal }).then(
    () => Promise.reject(new NoAnswer('the server is silent')),
    () => new Promise<never>(() => undefined),
  )
  try {
    return await Promise.race([work, late])
  } finally {
    waiting.abort()
  }
}

function query(fields: Fields): string {
  const pairs = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)
  return pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`).join('&')
}

function sentenceIn(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    return typeof error === 'string' ? error : null
  } catch {
    return null
  }
}
