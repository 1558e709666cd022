export type { AttachOptions, KubeConfigLike } from './attach.ts'
export { attach } from './attach.ts'
export type { Attachment, AttachmentStatus } from './attachment.ts'
