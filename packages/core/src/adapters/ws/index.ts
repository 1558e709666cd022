export {
  type OpenedWebSocket,
  type OpenWebSocketOptions,
  openWebSocket,
  type WebSocketClass,
  webSocketOptions,
} from './open-web-socket.ts'
