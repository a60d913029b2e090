#include "report/nccl_topology_xml.h"

#include <cstddef>

#include "report/detail/xml_writer.h"

namespace railyard::report {

namespace {

using detail::XmlWriter;
using facts::NcclCpu;
using facts::NcclGpu;
using facts::NcclNet;
using facts::NcclNic;
using facts::NcclPci;
using facts::NcclTopology;
using Element = XmlWriter::Element;

class Writer {
 public:
  explicit Writer(const NcclTopology& topology) : topology_(topology) {}

  std::string write() {
    {
      Element e(out_, "system");
      e.integer("version", topology_.version).rest(topology_.other);
      for (const NcclCpu& c : topology_.cpus) cpu(c);
    }
    return out_.take();
  }

 private:
  void cpu(const NcclCpu& c) {
    Element e(out_, "cpu");
    e.if_text("host_hash", c.host_hash)
        .if_integer("numaid", c.numaid)
        .if_text("affinity", c.affinity);
    if (!c.arch.empty()) e.text("arch", c.arch);
    e.if_text("vendor", c.vendor).if_integer("familyid", c.family).if_integer("modelid", c.model);
    e.rest(c.other);
    devices(c.pci, c.nics);
  }

  /// PCI devices and NICs in the order of their positions.
  void devices(const std::vector<NcclPci>& pci, const std::vector<NcclNic>& nics) {
    auto next = nics.begin();
    for (const NcclPci& p : pci) {
      for (; next != nics.end() && next->position < p.position; ++next) nic(*next);
      device(p);
    }
    for (; next != nics.end(); ++next) nic(*next);
  }

  void device(const NcclPci& p) {
    Element e(out_, "pci");
    e.text("busid", p.busid);
    if (!p.device_class.empty()) e.text("class", p.device_class);
    e.if_text("vendor", p.vendor).if_text("device", p.device);
    e.if_text("subsystem_vendor", p.subsystem_vendor)
        .if_text("subsystem_device", p.subsystem_device);
    // A speed that is not known stands as "" beside its width, as in dumps of virtual machines.
    if (!p.link_speed.empty() || p.link_width) e.text("link_speed", p.link_speed);
    e.if_integer("link_width", p.link_width).rest(p.other);
    if (p.gpu) gpu(*p.gpu);
    devices(p.below, p.nics);
    for (const auto& link : p.pcilinks) {
      Element l(out_, "pcilink");
      l.text("target", link.second);
    }
  }

  void gpu(const NcclGpu& g) {
    Element e(out_, "gpu");
    e.if_integer("dev", g.dev).if_integer("sm", g.sm).if_text("gcn", g.gcn);
    e.if_integer("rank", g.rank).if_integer("gdr", g.gdr).rest(g.other);
    for (const facts::NcclNvlink& n : g.nvlinks) {
      Element l(out_, topology_.rccl ? "xgmi" : "nvlink");
      l.text("target", n.target).integer("count", n.count);
      if (!n.target_class.empty()) l.text("tclass", n.target_class);
      l.rest(n.other);
    }
    for (const facts::NcclC2c& c : g.c2c) {
      Element l(out_, "c2c");
      l.integer("bw", c.bandwidth_mbps).integer("count", c.count).rest(c.other);
    }
  }

  void nic(const NcclNic& n) {
    Element e(out_, "nic");
    e.rest(n.other);
    for (const NcclNet& net : n.nets) {
      Element l(out_, "net");
      if (!net.name.empty()) l.text("name", net.name);
      l.if_integer("dev", net.dev);
      if (net.latency) l.number("latency", *net.latency);
      l.if_integer("speed", net.speed_mbps).if_integer("port", net.port).if_text("guid", net.guid);
      l.if_integer("maxconn", net.maxconn).if_integer("gdr", net.gdr);
      l.if_integer("coll", net.coll).if_integer("keep", net.keep).rest(net.other);
    }
  }

  const NcclTopology& topology_;
  XmlWriter out_;
};

}  // namespace

std::string to_xml(const NcclTopology& topology) { return Writer(topology).write(); }

}  // namespace railyard::report
