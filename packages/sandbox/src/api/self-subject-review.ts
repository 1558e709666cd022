import { readBody, readJson } from '../server/read-body.ts'
import type { Answer } from '../server/send.ts'
import { StatusError } from '../server/status.ts'
import type { Call } from './call.ts'
import { timestamp } from './kube-object.ts'

const API_VERSION = 'authentication.k8s.io/v1'
const KIND = 'SelfSubjectReview'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const PROTOBUF_MAGIC = Buffer.from('k8s\0')

/** Answers a SelfSubjectReview with the user of the request. */
export async function reviewSelfSubject(call: Call): Promise<Answer> {
  await checkBody(call)
  const creationTimestamp = timestamp(Date.now())
  return {
    status: 201,
    body: {
      kind: KIND,
      apiVersion: API_VERSION,
      metadata: { creationTimestamp },
      status: { userInfo: call.user },
    },
  }
}

/** Checks the kind of the body. A review has no other fields, so one in protobuf, as kubectl sends, need not be decoded. */
async function checkBody({ request }: Call): Promise<void> {
  const isProtobuf = request.headers['content-type'] === PROTOBUF
  const isReview = isProtobuf
    ? (await readBody(request)).subarray(0, PROTOBUF_MAGIC.length).equals(PROTOBUF_MAGIC)
    : isJsonReview(await readJson(request))
  if (isReview) return
  throw new StatusError('BadRequest', `the object provided is not a ${KIND} of ${API_VERSION}`)
}

function isJsonReview({ kind, apiVersion }: Readonly<Record<string, unknown>>): boolean {
  return kind === KIND && apiVersion === API_VERSION
}
