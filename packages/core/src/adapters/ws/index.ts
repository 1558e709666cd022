export {
  type OpenedWebSocket,
  type OpenWebSocketOptions,
  openWebSocket,
  type WebSocketClass,
} from './open-web-socket.ts'
export { webSocketOptions } from './web-socket-options.ts'
