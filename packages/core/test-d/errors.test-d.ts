import {
  type AnyCredentialError,
  CODES,
  type Code,
  type CodeFacts,
  CredentialError,
  type ErrorInit,
  isCredentialError,
  type PluginExitedError,
  type PluginOutputInvalidError,
  type ServerUnreachableError,
} from 'kubecred/errors'
import { describe, expectTypeOf, it } from 'vitest'

describe('kubecred/errors', () => {
  it('lets a switch over the code narrow to the class', () => {
    const look = (error: AnyCredentialError): void => {
      switch (error.code) {
        case 'ERR_PLUGIN_EXITED':
          expectTypeOf(error).toEqualTypeOf<PluginExitedError>()
          expectTypeOf(error.exitStatus).toBeNumber()
          break
        case 'ERR_PLUGIN_OUTPUT_INVALID':
          expectTypeOf(error).toEqualTypeOf<PluginOutputInvalidError>()
          expectTypeOf(error.path).toBeString()
          break
        case 'ERR_SERVER_UNREACHABLE':
          expectTypeOf(error).toEqualTypeOf<ServerUnreachableError>()
          expectTypeOf(error.server).toBeString()
          break
        default:
          expectTypeOf(error.hint).toBeString()
      }
    }
    expectTypeOf(look).parameter(0).toEqualTypeOf<AnyCredentialError>()
  })

  it('has a class for every code, and a code for every class', () => {
    expectTypeOf<AnyCredentialError['code']>().toEqualTypeOf<Code>()
  })

  it('has the facts of every code', () => {
    expectTypeOf<Code>().toEqualTypeOf<keyof typeof CODES>()
    expectTypeOf(CODES.ERR_CLOSED).toExtend<CodeFacts>()
    expectTypeOf<'ERR_NO_SUCH'>().not.toExtend<Code>()
  })

  it('recognises errors from unknown values', () => {
    const caught: unknown = undefined
    if (isCredentialError(caught)) {
      expectTypeOf(caught).toEqualTypeOf<AnyCredentialError>()
      expectTypeOf(caught.code).toEqualTypeOf<Code>()
      expectTypeOf(caught.retryable).toBeBoolean()
      expectTypeOf(caught.nextTryAt).toEqualTypeOf<number | undefined>()
    }
  })

  it('makes none of the base class alone', () => {
    // @ts-expect-error It is abstract: every error has a class and a code.
    new CredentialError('x')
    expectTypeOf<ErrorInit>().toEqualTypeOf<{
      readonly hint?: string | undefined
      readonly cause?: unknown
    }>()
  })
})
