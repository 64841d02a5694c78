import java.nio.file.Path;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** Runs a Neo4j server in the home directory given; with a second argument, until standard input ends. */
public class Neo4jServer {
    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]);
        var service = new DatabaseManagementServiceBuilder(home)
                .loadPropertiesFromFile(home.resolve("conf").resolve("neo4j.conf"))
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(service::shutdown));
        if (arguments.length > 1) {
            while (System.in.read() >= 0) {
                // Whoever started this server holds the other end, and lets go of it even when killed.
            }
            System.exit(0);
        }
        Thread.currentThread().join();
    }
}
