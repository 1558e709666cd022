import { connect } from 'kubecred'
import { expect, inject, it } from 'vitest'
import { LARGE } from './harness/prepare.ts'
import { TestCluster } from './harness/test-cluster.ts'
import { until } from './harness/until.ts'

const cluster = new TestCluster(inject('cluster'))
const API = '/apis/flowcontrol.apiserver.k8s.io/v1'

it('a 429 of priority and fairness is returned to the caller and does not affect the credential', async () => {
  const [level, group] = [cluster.unique('jail'), cluster.unique('jailed')]
  await cluster.create(`${API}/prioritylevelconfigurations`, {
    metadata: { name: level },
    spec: {
      type: 'Limited',
      // One at a time: the level has no seats, but a single request is admitted.
      limited: {
        nominalConcurrencyShares: 0,
        borrowingLimitPercent: 0,
        lendablePercent: 0,
        limitResponse: { type: 'Reject' },
      },
    },
  })
  await cluster.create(`${API}/flowschemas`, {
    metadata: { name: level },
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: 10,
      rules: [
        {
          subjects: [{ kind: 'Group', group: { name: group } }],
          resourceRules: [
            {
              verbs: ['*'],
              apiGroups: ['*'],
              resources: ['*'],
              namespaces: ['*'],
              clusterScope: true,
            },
          ],
        },
      ],
    },
  })
  const user = cluster.unique('prisoner')
  const plugin = cluster.plugin().answer(cluster.token({ user, groups: ['suite', group] }))
  const ours = await connect({ kubeconfig: cluster.kubeconfig({ user: { exec: plugin.exec } }) })
  let refused: Response | undefined
  // The server notices the new level with a delay.
  await until(async () => {
    const path = `/api/v1/namespaces/${LARGE.namespace}/configmaps`
    const answers = await Promise.all(Array.from({ length: 10 }, () => ours.fetch(path)))
    await Promise.all(answers.map((answer) => answer.arrayBuffer()))
    refused = answers.find(({ status }) => status === 429)
    return refused !== undefined
  })
  expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(plugin.runs).toBe(1)
  await ours.close()
})
