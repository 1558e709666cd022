import { fields } from './kube-object.ts'

/** Returns the fields that controllers would set: namespaces are active and pods are running immediately. */
export function controllerFields(
  kind: string,
  body: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (kind === 'Namespace') return { status: { phase: 'Active' } }
  if (kind !== 'Pod') return {}
  return {
    spec: { nodeName: 'sandbox', containers: [{ name: 'main' }], ...fields(body['spec']) },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  }
}
