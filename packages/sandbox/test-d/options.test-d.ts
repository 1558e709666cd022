import type {
  CertificateOptions,
  KubeconfigOptions,
  KubeconfigUser,
  PluginOptions,
  Sandbox,
  SandboxOptions,
  TokenOptions,
} from '@kubecred/sandbox'
import { expectTypeOf, it } from 'vitest'

it('a user takes what the sandbox issues, a plugin, and a signer', () => {
  expectTypeOf<ReturnType<Sandbox['issueToken']>>().toExtend<KubeconfigUser>()
  expectTypeOf<Awaited<ReturnType<Sandbox['issueCertificate']>>>().toExtend<KubeconfigUser>()
  expectTypeOf<{
    exec: Awaited<ReturnType<Sandbox['plugin']>>
  }>().toExtend<KubeconfigUser>()
  expectTypeOf<{
    'auth-provider': { name: 'externalSigner'; config: { pathExec: string } }
  }>().toExtend<KubeconfigUser>()
})

it('an unknown field does not compile', () => {
  // @ts-expect-error: it is token.
  const user: KubeconfigUser = { tokn: 't' }
  // @ts-expect-error: values of an auth provider are strings.
  const signer: KubeconfigUser = { 'auth-provider': { name: 'x', config: { slotId: 0 } } }
  expectTypeOf([user, signer]).items.toEqualTypeOf<KubeconfigUser>()
})

it('optional fields may be undefined under exactOptionalPropertyTypes', () => {
  expectTypeOf<AllUndefined<SandboxOptions>>().toExtend<SandboxOptions>()
  expectTypeOf<AllUndefined<KubeconfigOptions>>().toExtend<KubeconfigOptions>()
  expectTypeOf<AllUndefined<KubeconfigUser>>().toExtend<KubeconfigUser>()
  expectTypeOf<AllUndefined<Omit<TokenOptions, 'user'>>>().toExtend<Omit<TokenOptions, 'user'>>()
  expectTypeOf<AllUndefined<Omit<CertificateOptions, 'user'>>>().toExtend<
    Omit<CertificateOptions, 'user'>
  >()
  expectTypeOf<AllUndefined<Omit<PluginOptions, 'user'>>>().toExtend<Omit<PluginOptions, 'user'>>()
})

type AllUndefined<T> = { [K in keyof T]-?: undefined }
