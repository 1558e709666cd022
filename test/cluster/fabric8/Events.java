import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;

/**
 * Prints a line for each event of the ConfigMaps in a namespace, as an informer and as a watch see it, until standard
 * input ends. The watch is ended by the server every few seconds, so that it is opened again and again.
 */
class Events {
  private static final long WATCH_SECONDS = 7;

  public static void main(String[] args) throws Exception {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      var maps = client.configMaps().inNamespace(args[0]);
      maps.inform(new ResourceEventHandler<ConfigMap>() {
        @Override
        public void onAdd(ConfigMap map) {
          print("informer ADDED", map);
        }

        @Override
        public void onUpdate(ConfigMap before, ConfigMap map) {
          if (before.getMetadata().getResourceVersion().equals(map.getMetadata().getResourceVersion())) return;
          print("informer MODIFIED", map);
        }

        @Override
        public void onDelete(ConfigMap map, boolean isStateUnknown) {
          print("informer DELETED", map);
        }
      });
      var options = new ListOptionsBuilder().withTimeoutSeconds(WATCH_SECONDS).build();
      maps.watch(options, new Watcher<ConfigMap>() {
        @Override
        public void eventReceived(Action action, ConfigMap map) {
          print("watch " + action, map);
        }

        @Override
        public void onClose(WatcherException cause) {
          System.out.println("watch CLOSED " + cause);
        }
      });
      System.out.println("READY");
      System.in.transferTo(java.io.OutputStream.nullOutputStream());
    }
  }

  private static synchronized void print(String event, ConfigMap map) {
    System.out.println(event + " " + map.getMetadata().getName());
  }
}
