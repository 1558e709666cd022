export { attach } from './attach.ts'
export type { AttachOptions, KubeConfigLike } from './attach-options.ts'
export type { Attachment, AttachmentStatus } from './attachment.ts'
