import type { IdentityHandle, LiveState } from '@kubecred/cli/internal'

/** The identities of the demo. */
export type IdentityName = 'jane' | 'robot' | 'kim'

/** Puts all identities on the page. It lists them in this order, whichever is ready first. */
export function showIdentities(state: LiveState): Readonly<Record<IdentityName, IdentityHandle>> {
  return {
    jane: state.identity('jane', 'jane'),
    robot: state.identity('robot', 'robot'),
    kim: state.identity('kim', 'kim'),
  }
}
