import type { Handler } from '../../exchange/handler.ts'
import { type HasLine, lineOf } from '../../request/line.ts'
import { DispatcherCore } from './dispatcher-core.ts'
import { type DispatcherOptions, readOptions } from './dispatcher-options.ts'
import type { LegacyHandler } from './handlers.ts'
import type { DispatchOptions, Undici, UndiciModule } from './undici-module.ts'

/** undici's callbacks, for those who do not await. */
type Done = (error: Error | null, nothing: null) => void

/**
 * Makes a dispatcher of the user's undici that sends with the credential of a cluster.
 *
 * It is a real `Dispatcher`: `request`, `stream`, `pipeline`, `upgrade` and `compose` work, and it can be
 * given to `undici.fetch` or `setGlobalDispatcher`. It reaches this cluster and nothing else.
 *
 * @param undici The module itself: `import * as undici from 'undici'`, version 6, 7 or 8.
 * @throws {TypeError} When one of the arguments is something else.
 */
export function createDispatcher<Module extends UndiciModule>(
  cluster: HasLine,
  undici: Module,
  options: DispatcherOptions = {},
): InstanceType<Module['Dispatcher']> {
  const line = lineOf(cluster, 'createDispatcher')
  checkModule(undici)
  const known = undici as unknown as Undici
  const core = new DispatcherCore(line, known, readOptions(options, undici))
  // Everything is in the core: undici calls these methods also on a Proxy, which has no private fields.
  class ClusterDispatcher extends known.Dispatcher {
    get closed(): boolean {
      return core.isClosed
    }

    get destroyed(): boolean {
      return core.isDestroyed
    }

    dispatch(request: DispatchOptions, handler: Handler | LegacyHandler): boolean {
      return core.dispatch(request, handler)
    }

    close(done?: Done): Promise<void> | undefined {
      return settle(core.close(), done)
    }

    destroy(reason?: Error | Done | null, done?: Done): Promise<void> | undefined {
      if (typeof reason === 'function') return settle(core.destroy(), reason)
      return settle(core.destroy(reason ?? undefined), done)
    }
  }
  const dispatcher = new ClusterDispatcher()
  core.onEvent = (name, origin, targets, error) =>
    void dispatcher.emit(name, origin, [dispatcher, ...targets], error)
  return dispatcher as InstanceType<Module['Dispatcher']>
}

function checkModule(undici: UndiciModule): void {
  const { Dispatcher, Pool, errors } = (undici ?? {}) as Partial<UndiciModule>
  const isModule = typeof Dispatcher === 'function' && typeof Pool === 'function'
  if (isModule && typeof errors === 'object') return
  throw new TypeError(
    "createDispatcher(cluster, undici) takes the module itself: import * as undici from 'undici'",
  )
}

function settle(ended: Promise<void>, done: Done | undefined): Promise<void> | undefined {
  if (done === undefined) return ended
  ended.then(
    () => done(null, null),
    (error: Error) => done(error, null),
  )
  return undefined
}
