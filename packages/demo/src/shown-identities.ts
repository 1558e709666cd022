import type { IdentityHandle, LiveState } from '@kubecred/cli/internal'

/** The identities of the demo. */
export type IdentityName = 'jane' | 'robot' | 'kim'

/** Adds all identities to the page, in a fixed order whichever is ready first. */
export function showIdentities(state: LiveState): Readonly<Record<IdentityName, IdentityHandle>> {
  return {
    jane: state.identity('jane', 'jane'),
    robot: state.identity('robot', 'robot'),
    kim: state.identity('kim', 'kim'),
  }
}
