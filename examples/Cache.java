// A cache that one thread looks up while another one closes it. examples/cache.csv is a trace of a run in which all went well.
class Cache {
    private String value = "10";
    private boolean closed;
    private final Object lock = new Object();

    int get() {
        synchronized (lock) {
            if (value == null) {
                return 0;
            }
        }
        synchronized (lock) {
            return value.length();
        }
    }

    void close() {
        closed = true;
        synchronized (lock) {
            value = null;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Cache cache = new Cache();
        Thread reader = new Thread(() -> {
            if (!cache.closed) {
                cache.get();
            }
        });
        reader.start();
        cache.close();
        reader.join();
    }
}
