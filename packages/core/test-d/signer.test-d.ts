import {
  ecdsaToDer,
  type ListenOptions,
  listenSigner,
  runSigner,
  type SignatureScheme,
  type SignContext,
  type SignerConfiguration,
  type SignerContext,
  type SignerHandlers,
  type SignerOptions,
  type SignerServer,
  terminalPrompt,
} from 'kubecred/signer'
import { describe, expectTypeOf, it } from 'vitest'

describe('a signer', () => {
  it('is two functions, asynchronous or not', () => {
    expectTypeOf(runSigner).toBeCallableWith({
      certificate: () => 'PEM',
      sign: async ({ digest }) => digest,
    })
    expectTypeOf(runSigner).parameter(1).toEqualTypeOf<SignerOptions | undefined>()
    type Returned = ReturnType<typeof runSigner>
    expectTypeOf<Awaited<Returned>>().toBeNever()
  })

  it('receives what to sign, and may not receive the message', () => {
    expectTypeOf<SignContext['message']>().toEqualTypeOf<Uint8Array | undefined>()
    expectTypeOf<SignContext['digest']>().toEqualTypeOf<Uint8Array>()
    expectTypeOf<SignContext['scheme']>().toEqualTypeOf<SignatureScheme>()
    expectTypeOf<SignContext>().toExtend<SignerContext>()
    expectTypeOf<SignerContext['configuration']>().toEqualTypeOf<SignerConfiguration>()
    expectTypeOf<SignerConfiguration>().toEqualTypeOf<Readonly<Record<string, string>>>()
  })

  it('can listen on a socket', () => {
    expectTypeOf(listenSigner).parameters.toEqualTypeOf<[SignerHandlers, ListenOptions]>()
    expectTypeOf(listenSigner).returns.resolves.toEqualTypeOf<SignerServer>()
    expectTypeOf<SignerServer>().toExtend<AsyncDisposable>()
    expectTypeOf(terminalPrompt).returns.returns.resolves.toBeString()
  })

  it('converts signatures', () => {
    expectTypeOf(ecdsaToDer).toEqualTypeOf<(signature: Uint8Array) => Uint8Array>()
  })
})
