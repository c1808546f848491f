import type { EngineInterface } from 'claude-code'

import { policyOf } from './checkout'
import { COMMAND } from './installed'
import { sessionSwitch } from './policy'
import type { Run } from './run'
import { clean } from './rows'

/** How often a server is started if none answers. */
export const START_EVERY_MS = 3 * 60_000

const LASTS_MS = 45_000

/** Start the server if the policy consents: its switch is true, and automatic starts are not switched off. */
export async function startServer($: EngineInterface, run: Run): Promise<void> {
  const now = await $.clock.now()
  if (run.isStarting || run.checkout === null || now < run.nextStartAt) return
  const policy = await policyOf($, run.checkout)
  if (sessionSwitch(policy, 'brief_on_interval') !== true) return
  if (sessionSwitch(policy, 'ensure_server_on_start') === false) return
  run.nextStartAt = now + START_EVERY_MS
  run.isStarting = true
  try {
    const argv = [...COMMAND, 'serve', 'ensure', '--unless-stopped', '--root', run.checkout.root]
    const done = await $.process.run(argv, { timeoutMs: LASTS_MS })
    if (done.exitCode !== 0) run.startFault = clean(done.stderr).slice(0, 120)
  } catch {
    run.startFault = `${COMMAND[0]} cannot be started`
  } finally {
    run.isStarting = false
    run.nextHeartbeatAt = 0
  }
}
