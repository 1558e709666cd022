import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { processProtocol } from '../../src/node/process-registry.ts'
import { Semaphore } from '../../src/node/semaphore.ts'
import { makePair, type TestKeyPair } from '../fixtures/make-certificates.ts'
import { isRunning } from '../fixtures/processes.ts'
import { expectNoProcessesLeft, SignerFixture, toSign } from '../fixtures/signer-fixture.ts'

const SCHEME = 'ecdsa_secp256r1_sha256'
let pair: TestKeyPair
beforeAll(async () => {
  pair = await makePair()
})
afterEach(expectNoProcessesLeft)

describe('requests to a device', () => {
  it('are sent one at a time, also from several keys', async () => {
    await using scene = new SignerFixture(pair)
    const turns = new Semaphore(1)
    const parameters = { exclusive: 'yes', delay: '30' }
    const [one, other] = await Promise.all([
      scene.key(parameters, { ports: { turns } }),
      scene.key(parameters, { ports: { turns } }),
    ])
    const signed = await Promise.all(
      [one, other, one, other].map((key, index) => key.sign(toSign(`${index}`))),
    )
    for (const [index, signature] of signed.entries()) {
      expect(scene.isValid(SCHEME, Buffer.from(`${index}`), signature)).toBe(true)
    }
  })

  it('can be aborted while queued, without affecting the others', async () => {
    await using scene = new SignerFixture(pair)
    const key = await scene.key({ stays: 'yes', delay: '200' })
    const impatient = new AbortController()
    const first = key.sign(toSign('first'))
    const second = key.sign(toSign('second', SCHEME, impatient.signal))
    const third = key.sign(toSign('third'))
    impatient.abort(new Error('too long'))
    await expect(second).rejects.toThrow('too long')
    expect(scene.isValid(SCHEME, Buffer.from('first'), await first)).toBe(true)
    expect(scene.isValid(SCHEME, Buffer.from('third'), await third)).toBe(true)
    expect(new Set(scene.log().map(({ pid }) => pid)).size).toBe(1)
  })

  it('stop the signer and its children if aborted while it works', async () => {
    await using scene = new SignerFixture(pair)
    const key = await scene.key({ stays: 'yes', behaviour: 'hangs', only: 'signature' })
    const impatient = new AbortController()
    const signing = key.sign(toSign('x', SCHEME, impatient.signal))
    await vi.waitFor(() => expect(scene.log().at(-1)?.child).toBeDefined())
    const { pid = 0, child = 0 } = scene.log().at(-1) ?? {}
    impatient.abort(new Error('never mind'))
    await expect(signing).rejects.toThrow('never mind')
    await vi.waitFor(() => expect([pid, child].filter(isRunning)).toEqual([]), 10_000)
    expect(scene.eventsOf('sign-failed')).toMatchObject([{ error: undefined }])
  })
})

describe('a device', () => {
  it('is free again once the signer of an aborted request has ended', async () => {
    await using scene = new SignerFixture(pair)
    const ports = { turns: new Semaphore(1) }
    const stuck = await scene.key({ behaviour: 'hangs', only: 'signature' }, { ports })
    const other = await scene.key({}, { ports })
    const impatient = new AbortController()
    const signing = stuck.sign(toSign('x', SCHEME, impatient.signal))
    await vi.waitFor(() => expect(scene.log().at(-1)?.child).toBeDefined())
    const { pid = 0 } = scene.log().at(-1) ?? {}
    impatient.abort(new Error('never mind'))
    await expect(signing).rejects.toThrow('never mind')
    await other.sign(toSign('x'))
    expect(isRunning(pid)).toBe(false)
  })
})

describe('prompts', () => {
  it('are reported until the answer arrives', async () => {
    await using scene = new SignerFixture(pair)
    const key = await scene.key({ behaviour: 'prompts', only: 'signature' })
    await key.sign(toSign('x'))
    const reported = scene.events.filter(({ type }) => /prompt|signed/.test(type))
    expect(reported).toMatchObject([
      { type: 'user-prompt', text: 'Touch the device' },
      { type: 'prompt-ended' },
      { type: 'signed' },
    ])
  })

  it('are limited in number', async () => {
    await using scene = new SignerFixture(pair)
    await (await scene.key({ behaviour: 'floods', only: 'signature' })).sign(toSign('x'))
    expect(scene.eventsOf('user-prompt')).toHaveLength(20)
    expect(scene.eventsOf('prompt-ended')).toHaveLength(1)
  })

  it('extend the timeout', async () => {
    await using scene = new SignerFixture(pair)
    const limits = { timeoutMs: 1000, interactiveTimeoutMs: 20_000 }
    const prompt = { apiVersion: 'external-signer.authentication.k8s.io/v1alpha1' }
    const print = JSON.stringify({ ...prompt, kind: 'UserPrompt', prompt: 'Touch' })
    writeFileSync(
      scene.program,
      `#!/bin/sh\nprintf '%s\\n' '${print}'\nsleep 2\nprintf '%s\\n' '${print.replace(
        /"kind.*/,
        '"kind":"SignerError","message":"the device waited too long"}',
      )}'\n`,
    )
    await expect(scene.acquire(scene.source({}, { limits }))).rejects.toMatchObject({
      code: 'ERR_SIGNER_FAILED',
      message: expect.stringMatching(/returned no certificate: the device waited too long$/),
    })
  })
})

describe('the environment of a signer', () => {
  const hostEnv = {
    PATH: process.env['PATH'],
    EXTERNAL_SIGNER_PLUGIN_CONFIG: 'of another request',
    KUBECRED_SIGNER_MESSAGE: 'of another request',
    KUBECRED_SIGNER_FD: '9',
    KUBECRED_PKCS11_PIN: '4711',
    KUBECRED_PKCS11_PIN_WORK: '4712',
    KUBECRED_PKCS11_MODULES: '/lib/x.so',
  }

  it('contains the request and PINs', async () => {
    await using scene = new SignerFixture(pair)
    const key = await scene.key({}, { ports: { hostEnv: () => hostEnv } })
    await key.sign(toSign('x'))
    const [certificate, signature] = scene
      .log()
      .map(({ variables }) => [...(variables ?? [])].sort())
    const pins = [
      'KUBECRED_PKCS11_MODULES',
      'KUBECRED_PKCS11_PIN',
      'KUBECRED_PKCS11_PIN_WORK',
      'KUBECRED_SIGNER_FD',
    ]
    expect(certificate).toEqual(['EXTERNAL_SIGNER_PLUGIN_CONFIG', ...pins])
    expect(signature).toEqual(['EXTERNAL_SIGNER_PLUGIN_CONFIG', ...pins, 'KUBECRED_SIGNER_MESSAGE'])
  })

  it('contains only the host variables that passEnv allows', async () => {
    await using scene = new SignerFixture(pair)
    const passEnv = ['KUBECRED_PKCS11_PIN_WORK']
    await scene.key({}, { ports: { hostEnv: () => hostEnv }, signer: { passEnv } })
    expect(scene.log()[0]?.variables?.toSorted()).toEqual([
      'EXTERNAL_SIGNER_PLUGIN_CONFIG',
      'KUBECRED_PKCS11_PIN_WORK',
      'KUBECRED_SIGNER_FD',
    ])
  })
})

describe('a signer that cannot run', () => {
  it('is denied by the policy before it is looked up', async () => {
    await using scene = new SignerFixture(pair)
    const policy = { type: 'DenyAll', origin: '/kuberc' } as const
    await expect(scene.key({}, { signer: { policy } })).rejects.toMatchObject({
      code: 'ERR_PLUGIN_DENIED',
    })
    expect(scene.log()).toEqual([])
  })

  it('has a hint that names the parameter if it is not found', async () => {
    await using scene = new SignerFixture(pair)
    const at = { kind: 'program', command: join(scene.folder, 'nothing') } as const
    await expect(scene.key({}, { at })).rejects.toMatchObject({
      code: 'ERR_PLUGIN_NOT_FOUND',
      message: expect.stringMatching(/^signer .* was not found/),
      hint: expect.stringContaining('pathExec'),
    })
  })

  it('is reported if it is not a program', async () => {
    await using scene = new SignerFixture(pair)
    writeFileSync(scene.program, 'a text')
    await expect(scene.key()).rejects.toMatchObject({ code: 'ERR_PLUGIN_EXEC_FORMAT' })
    expect(processProtocol().counts().slots).toBe(0)
  })
})
