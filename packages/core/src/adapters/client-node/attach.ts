import { checkPolicy } from '../../connect/connect-options.ts'
import { checkOptionNames } from '../../errors/option-names.ts'
import { checkKubeconfigOption } from '../../kubeconfig/inline-kubeconfig.ts'
import { checkVersion } from '../../version.ts'
import { ATTACH_OPTIONS, type AttachOptions, type KubeConfigLike } from './attach-options.ts'
import { type Attachment, KubeConfigAttachment } from './attachment.ts'

/** The property under which a KubeConfig keeps its attachment; shared by all copies of this package. */
const ATTACHED = Symbol.for('kubecred/client-node/1')

/**
 * Makes a `KubeConfig` of @kubernetes/client-node 1.x or 2.x send its requests with kubecred's credentials.
 *
 * This applies to everything that was or will be made from it: generated APIs, watches, informers, logs, exec, attach,
 * port-forward and cp. No plugin runs before the first request. A second call for the same KubeConfig returns the same
 * attachment.
 *
 * @throws {TypeError} If `kc` is not a KubeConfig, is already attached with other options, or an option is unknown.
 *
 * @example
 * import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
 * import { attach } from 'kubecred/client-node'
 *
 * const kc = new KubeConfig()
 * kc.loadFromDefault()
 * attach(kc)
 * const pods = await kc.makeApiClient(CoreV1Api).listNamespacedPod({ namespace: 'default' })
 */
export function attach(kc: KubeConfigLike, options: AttachOptions = {}): Attachment {
  checkShape(kc)
  checkOptionNames(options, 'attach()', ATTACH_OPTIONS)
  checkPolicy(options.policy ?? {})
  checkKubeconfigOption(options.kubeconfig)
  options.signal?.throwIfAborted()
  const holder = kc as KubeConfigLike & { [ATTACHED]?: KubeConfigAttachment }
  const known = holder[ATTACHED]
  if (known !== undefined) {
    checkVersion(known, 'attach()', 'attachment')
    if (known.fits(options)) return known
    throw new TypeError(
      'this KubeConfig is already attached with other options: close() that attachment first',
    )
  }
  const attachment = new KubeConfigAttachment(kc, options, () => delete holder[ATTACHED])
  Object.defineProperty(holder, ATTACHED, { value: attachment, configurable: true })
  return attachment
}

function checkShape(kc: Partial<KubeConfigLike> | null | undefined): void {
  const { applySecurityAuthentication, applyToHTTPSOptions, getCurrentCluster } = kc ?? {}
  const methods = [applySecurityAuthentication, applyToHTTPSOptions, getCurrentCluster]
  if (methods.every((method) => typeof method === 'function')) return
  throw new TypeError('attach() needs a KubeConfig of @kubernetes/client-node 1.x or 2.x')
}
