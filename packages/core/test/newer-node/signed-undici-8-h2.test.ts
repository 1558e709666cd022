import { expect, it } from 'vitest'
import { openSigned } from '../signed-transports/signed-stage.ts'
import { describeSigned, OF_EACH } from '../signed-transports/signed-table.ts'
import { withSigningKey } from '../signed-transports/with-signing-key.ts'
import { seen } from '../transports/admin.ts'
import { undici8Http2Driver } from '../transports/drivers/undici-8-h2.ts'

// Otherwise the case `POST with a stream` would not fail, but use all memory.
it('uses HTTP/1.1 with a signing key, whatever allowH2 says', async () => {
  await using signed = await openSigned(withSigningKey(undici8Http2Driver))
  expect(await signed.stage.outcome()).toEqual([200])
  expect(seen(signed.stage.sandbox)).toMatchObject([{ httpVersion: '1.1', user: 'jane' }])
})

describeSigned(undici8Http2Driver, OF_EACH)
