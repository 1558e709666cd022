export {
  type Http2Client,
  type Http2Headers,
  type Http2RequestOptions,
  type Http2Response,
  openHttp2,
} from './open-http2.ts'
