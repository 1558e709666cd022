type Follower = (line: string) => void

// Every pod has some log lines, so that tests need not add them.
const FIRST_LINES = ['line 1', 'line 2', 'line 3']

/** The log lines of pods by uid, and their followers. */
export class PodLogs {
  readonly #lines = new Map<string, string[]>()
  readonly #followers = new Map<string, Set<Follower>>()

  lines(uid: string): readonly string[] {
    return this.#lines.get(uid) ?? FIRST_LINES
  }

  append(uid: string, line: string): void {
    this.#lines.set(uid, [...this.lines(uid), line])
    for (const follower of this.#followers.get(uid) ?? []) follower(line)
  }

  /** Calls `follower` for every later line, until the returned function is called. */
  follow(uid: string, follower: Follower): () => void {
    const followers = this.#followers.get(uid) ?? new Set()
    this.#followers.set(uid, followers.add(follower))
    return () => followers.delete(follower)
  }
}
