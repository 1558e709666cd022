import { timingSafeEqual } from 'node:crypto'

/**
 * Makes a check of `Authorization: Bearer …` that takes the same time however much of it is right.
 *
 * Its length is no secret: it is the same for every one that we make.
 */
export function bearerCheck(secret: string): (authorization: string | undefined) => boolean {
  const expected = Buffer.from(secret, 'latin1')
  return (authorization = '') => {
    const given = Buffer.from(BEARER.test(authorization) ? authorization.slice(7) : '', 'latin1')
    const isLong = given.length === expected.length
    return timingSafeEqual(isLong ? given : expected, expected) && isLong
  }
}

const BEARER = /^bearer /i
