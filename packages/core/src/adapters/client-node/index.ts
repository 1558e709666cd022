export { attach } from './attach.ts'
export type { AttachOptions } from './attach-options.ts'
export type { Attachment, AttachmentStatus } from './attachment.ts'
export type { KubeConfigLike } from './kube-config-like.ts'
